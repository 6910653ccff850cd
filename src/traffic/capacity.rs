//! How much a replica can take while its answers are as good as is asked.

use crate::acceptance::estimate::Estimate;
use crate::domain::traffic::Slo;
use crate::traffic::measures::Measures;
use crate::traffic::run::NoRun;
use crate::words::Limit;

/// Whether a run meets what is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Meets {
    /// All of it, with its interval.
    Surely,
    /// The estimates do, but an interval reaches beyond a limit.
    Likely,
    /// Some estimate does not, but its interval reaches below.
    Hardly,
    /// Not by any means.
    No,
}

/// Whether the percentile that is asked of each measure is within its limit, and the one that is furthest from it. A run that is overloaded,
/// or refuses more than may be missed, does not meet anything.
#[must_use]
pub fn meets(measures: &Measures, slo: &Slo) -> (Meets, Limit) {
    let share = slo.percentile.get();
    let most_refused = (1.0 - share) * measures.requests() as f64;
    if measures.refused as f64 > most_refused {
        return (Meets::No, Limit::Refused);
    }
    let times = [
        (Limit::Ttft, slo.ttft, &measures.ttft),
        (Limit::Tpot, slo.tpot, &measures.tpot),
        (Limit::E2e, slo.e2e, &measures.e2e),
    ];
    let judged = times.into_iter().filter_map(|(of, limit, times)| {
        let (at, limit) = (times.at(share)?, limit?.get());
        Some((judge(at, limit), at.value / limit, of))
    });
    let worst = judged.max_by(|one, other| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)));
    match worst {
        Some((Meets::Surely | Meets::Likely, ..)) | None if measures.is_overloaded() => (Meets::No, Limit::PilingUp),
        // Of requests without a token of output nothing can be missed.
        None => (Meets::Surely, Limit::Ttft),
        Some((meets, _, of)) => (meets, of),
    }
}

fn judge(of: Estimate, limit: f64) -> Meets {
    match of {
        Estimate { high, .. } if high <= limit => Meets::Surely,
        Estimate { value, .. } if value <= limit => Meets::Likely,
        Estimate { low, .. } if low <= limit => Meets::Hardly,
        _ => Meets::No,
    }
}

/// The highest rate that meets what is asked.
#[derive(Clone, Debug)]
pub struct Capacity {
    /// Requests per second of one replica.
    pub rate: f64,
    /// The lower end of its interval; 0 if no rate was found that surely does.
    pub low: f64,
    /// The upper end; endless if none was found that surely does not.
    pub high: f64,
    /// The run at `rate`.
    pub at: Measures,
    /// What is not met just above it; none if no rate was found that is too high.
    pub limit: Option<Limit>,
}

/// What is asked cannot be met at any load, or too few requests are measured to say at which.
#[derive(Clone, Debug)]
pub struct Never {
    /// A run at next to no load.
    pub alone: Measures,
    /// What is not met; none where there are too few requests.
    pub limit: Option<Limit>,
}

/// Requests of a run that looks for the range, where more are measured in it.
const COARSE: u64 = 2000;
/// Doublings from next to no load.
const DOUBLINGS: u32 = 40;
/// Halvings of what they leave with few requests, and as many again with all.
const HALVINGS: u32 = 3;
/// By how much a range that few requests gave is moved until all of them agree.
const MOVED: f64 = 1.1;
/// How far from the highest rate the ends of its interval are looked for.
const AWAY: [f64; 5] = [0.03, 0.06, 0.12, 0.24, 0.48];

/// Searches the highest rate: doubles from `light`, next to no load, until a rate is not met, and halves the range below it; then looks on
/// both sides for rates that surely are met and surely are not. All runs meet the same requests, so that times grow with the rate but for
/// chance: no crossing is skipped that their intervals do not cover. `run` takes a rate and how many requests it is to measure, of
/// `requests` at most.
///
/// # Errors
///
/// Of `run`.
pub fn capacity(
    slo: &Slo,
    light: f64,
    requests: u64,
    run: impl FnMut(f64, u64) -> Result<Measures, NoRun>,
) -> Result<Result<Capacity, Never>, NoRun> {
    let mut search = Search { slo, run, surely: Vec::new(), no: Vec::new(), best: None, above: None };
    let few = requests.min(COARSE);
    let alone = (search.run)(light, few)?;
    let limit = match meets(&alone, slo) {
        _ if alone.chance().is_infinite() => None,
        (Meets::Surely | Meets::Likely, _) => {
            search.takes(light, alone);
            return search.beyond(light, few, requests);
        }
        (Meets::Hardly | Meets::No, limit) => Some(limit),
    };
    Ok(Err(Never { alone, limit }))
}

/// A search at work.
struct Search<'s, R> {
    slo: &'s Slo,
    run: R,
    /// Rates that are surely met, and those that are surely not.
    surely: Vec<f64>,
    no: Vec<f64>,
    /// The highest that is met, and the lowest that is not.
    best: Option<(f64, Measures)>,
    above: Option<(f64, Limit)>,
}

impl<R: FnMut(f64, u64) -> Result<Measures, NoRun>> Search<'_, R> {
    /// Goes up from a light load that is met.
    fn beyond(&mut self, light: f64, few: u64, requests: u64) -> Result<Result<Capacity, Never>, NoRun> {
        let mut range = (light, f64::INFINITY);
        for doubled in 1..=DOUBLINGS {
            let rate = light * f64::from(doubled).exp2();
            if !self.tries(rate, few)? {
                range.1 = rate;
                break;
            }
            range.0 = rate;
        }
        // A service that no rate overloads has no limit; memory and steps make one of every service that is priced.
        if range.1.is_finite() {
            range = self.halves(range, few)?;
            if few < requests {
                (self.surely, self.no, self.best, self.above) = (Vec::new(), Vec::new(), None, None);
                range = self.agrees(range, light, requests)?;
            }
            self.halves(range, requests)?;
        }
        self.ends(requests)?;
        let Some((rate, at)) = self.best.take() else { return self.never(light, requests) };
        let limit = self.above.map(|(_, limit)| limit);
        let (low, high) = (self.low(rate), self.high(rate));
        // A sample of requests that brings more work than most meets less: the rate of endlessly many is as far off as its work.
        let chance = at.chance();
        let (low, high) = (low.min(rate * (1.0 - chance)).max(0.0), high.max(rate * (1.0 + chance)));
        Ok(Ok(Capacity { rate, low, high, at, limit }))
    }

    /// Whether the estimates at a rate meet what is asked.
    fn tries(&mut self, rate: f64, requests: u64) -> Result<bool, NoRun> {
        let measures = (self.run)(rate, requests)?;
        Ok(self.takes(rate, measures))
    }

    /// Takes a run at a rate; whether its estimates meet what is asked.
    fn takes(&mut self, rate: f64, measures: Measures) -> bool {
        let (meets, limit) = meets(&measures, self.slo);
        match meets {
            Meets::Surely => self.surely.push(rate),
            Meets::No => self.no.push(rate),
            Meets::Likely | Meets::Hardly => {}
        }
        let is_met = meets <= Meets::Likely;
        if is_met && self.best.as_ref().is_none_or(|(best, _)| *best < rate) {
            self.best = Some((rate, measures));
        } else if !is_met && self.above.is_none_or(|(above, _)| above > rate) {
            self.above = Some((rate, limit));
        }
        is_met
    }

    /// The highest rate up to `rate` that is surely met.
    fn low(&self, rate: f64) -> f64 {
        self.surely.iter().copied().filter(|surely| *surely <= rate).fold(0.0, f64::max)
    }

    /// The lowest beyond it that surely is not.
    fn high(&self, rate: f64) -> f64 {
        self.no.iter().copied().filter(|no| *no > rate).fold(f64::INFINITY, f64::min)
    }

    /// Halves a range between a rate that is met and one that is not.
    fn halves(&mut self, (mut low, mut high): (f64, f64), requests: u64) -> Result<(f64, f64), NoRun> {
        for _ in 0..HALVINGS {
            let rate = (low + high) / 2.0;
            *(if self.tries(rate, requests)? { &mut low } else { &mut high }) = rate;
        }
        Ok((low, high))
    }

    /// Moves a range until its lower end is met, unless nothing is, and its upper one is not.
    fn agrees(&mut self, (mut low, mut high): (f64, f64), light: f64, requests: u64) -> Result<(f64, f64), NoRun> {
        while !self.tries(low, requests)? {
            if low <= light {
                return Ok((low, low));
            }
            (low, high) = ((low / MOVED).max(light), low);
        }
        for _ in 0..DOUBLINGS {
            if self.above.is_some_and(|(above, _)| above <= high) || !self.tries(high, requests)? {
                break;
            }
            (low, high) = (high, high * MOVED);
        }
        Ok((low, high))
    }

    /// Looks for the ends of the interval around the highest rate that is met.
    fn ends(&mut self, requests: u64) -> Result<(), NoRun> {
        let Some((rate, _)) = self.best else { return Ok(()) };
        for lower in AWAY.map(|away| rate * (1.0 - away)) {
            if self.low(rate) >= lower {
                break;
            }
            self.tries(lower, requests)?;
        }
        for higher in AWAY.map(|away| rate * (1.0 + away)) {
            if self.high(rate) <= higher || self.above.is_none() {
                break;
            }
            self.tries(higher, requests)?;
        }
        Ok(())
    }

    /// Nothing is met at next to no load.
    fn never(&mut self, light: f64, requests: u64) -> Result<Result<Capacity, Never>, NoRun> {
        let alone = (self.run)(light, requests)?;
        let limit = Some(meets(&alone, self.slo).1);
        Ok(Err(Never { alone, limit }))
    }
}
