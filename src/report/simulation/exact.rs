//! What laws give by temperature and with several drafts for a position: no trials, only formulas.

use crate::acceptance::sequence::Chains;
use crate::acceptance::several::{Exhausted, Sampling, upper_bound, with_replacement, without_replacement};
use crate::acceptance::temperature::{Tempered, at};
use crate::domain::law::Pair;
use crate::domain::simulate::{Laws, Simulate};
use crate::report::simulation::lines::Line;
use crate::words::Estimated;

/// The temperatures in question; none where nothing but the plain rule is asked for.
#[must_use]
pub fn temperatures(simulate: &Simulate) -> Vec<f64> {
    let asked = simulate.drafts > 1 || matches!(simulate.laws, Some(Laws::After { .. }));
    match (simulate.temperature.as_slice(), &simulate.laws) {
        (_, None) => Vec::new(),
        ([], Some(_)) if asked => vec![1.0],
        (stated, Some(_)) => stated.to_vec(),
    }
}

/// A line for each temperature and way to draft; a temperature at which chances vanish has none.
#[must_use]
pub fn lines(simulate: &Simulate) -> Vec<Line> {
    let of = |temperature: f64| -> Vec<Line> {
        let lines = match &simulate.laws {
            Some(Laws::Same(pair)) => same(pair, temperature, simulate.drafts),
            Some(Laws::After { pairs, start }) => after(pairs, *start, temperature, &simulate.k),
            None => None,
        };
        let here = |line| Line { temperature: Some(temperature), ..line };
        lines.unwrap_or_default().into_iter().map(here).collect()
    };
    temperatures(simulate).into_iter().flat_map(of).collect()
}

fn same(pair: &Pair, temperature: f64, drafts: u64) -> Option<Vec<Line>> {
    let Tempered { drawn, greedy } = at(pair, temperature).ok()?;
    let one = |quantity, value: f64| Line::new(quantity, Some(value));
    let mut lines = vec![
        one(Estimated::AcceptanceDrawn, drawn.acceptance()),
        one(Estimated::AcceptanceGreedy, greedy.acceptance()),
        one(Estimated::AcceptanceMatching, drawn.match_chance()),
    ];
    if drafts > 1 {
        let n = usize::try_from(drafts).ok()?;
        lines.push(one(Estimated::SeveralWithReplacement, with_replacement(&drawn, n).acceptance()));
        lines.extend(
            upper_bound(&drawn, n, Sampling::WithReplacement).ok().map(|most| one(Estimated::SeveralBound, most)),
        );
        let without = without_replacement(&drawn, n, Exhausted::Stop).ok();
        lines.extend(without.map(|several| one(Estimated::SeveralWithoutReplacement, several.acceptance())));
        let most = upper_bound(&drawn, n, Sampling::WithoutReplacement).ok();
        lines.extend(most.map(|most| one(Estimated::SeveralWithoutBound, most)));
        lines.iter_mut().skip(3).for_each(|line| line.at = Some(drafts));
    }
    Some(lines)
}

fn after(pairs: &[Pair], start: usize, temperature: f64, k: &[u64]) -> Option<Vec<Line>> {
    let tempered: Vec<Tempered> = pairs.iter().map(|pair| at(pair, temperature).ok()).collect::<Option<_>>()?;
    let longest = usize::try_from(k.iter().copied().max()?).ok()?;
    let of = |[first, all]: [Estimated; 2], pick: fn(&Tempered) -> &Pair| -> Option<Vec<Line>> {
        let chains = Chains::new(tempered.iter().map(|one| pick(one).clone()).collect()).ok()?;
        let survival = chains.survival(start, longest).ok()?;
        let of_k = |quantity, k: u64, tokens| Line { k: Some(k), ..Line::new(quantity, Some(tokens)) };
        let tokens = |&k: &u64| of_k(first, k, 1.0 + survival.iter().take(k as usize).sum::<f64>());
        let lengths: Vec<usize> = k.iter().map(|&k| usize::try_from(k).ok()).collect::<Option<_>>()?;
        let means = chains.long_run_tokens(start, &lengths).ok()?;
        let long_run = k.iter().zip(means).map(|(&k, tokens)| of_k(all, k, tokens));
        Some(k.iter().map(tokens).chain(long_run).collect())
    };
    let drawn = of([Estimated::TokensDrawn, Estimated::TokensDrawnLongRun], |one| &one.drawn)?;
    let greedy = of([Estimated::TokensGreedy, Estimated::TokensGreedyLongRun], |one| &one.greedy)?;
    Some(drawn.into_iter().chain(greedy).collect())
}
