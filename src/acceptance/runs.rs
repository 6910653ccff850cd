//! Sequences decoded round by round, from any acceptance process, with what ties their rounds together.

use crate::acceptance::process::{Part, Process};
use crate::acceptance::sampler::{RoundTable, Test};
use crate::acceptance::simulate::RoundTrials;
use crate::acceptance::spans;
use crate::domain::spans::Spans;
use crate::domain::trace::{RoundSeen, Rounds, Trace};
use crate::rng::{BetaLaw, Generator};
use crate::words::Scope;

/// A process ready to draw sequences of rounds of k drafts.
///
/// | process | a sequence |
/// |---|---|
/// | beta by sequence | draws its alpha and keeps it |
/// | easy and hard spans | has a state that moves with every token it emits |
/// | recorded rounds | replays a request, drawn in proportion to its tokens, from a round drawn at random, over and over: what a request has of its own stays |
/// | workloads | is of one of them |
/// | of which a share of rounds drafts | proposes or not in each round |
/// | any other, and what lies between two contexts | has independent rounds of the process's law |
#[derive(Clone, Debug)]
pub struct Runs {
    kind: Kind,
    k: u64,
}

#[derive(Clone, Debug)]
enum Kind {
    Independent(Box<RoundTable>),
    Kept(BetaLaw),
    Spans(States),
    Recorded(Recording),
    Parts(Vec<(f64, Runs)>),
    Proposing(Test, Box<Runs>),
}

/// Where a sequence stands.
#[derive(Clone, Debug)]
pub struct State(At);

#[derive(Clone, Debug)]
enum At {
    Nowhere,
    /// The natural logarithm of its alpha.
    Alpha(f64),
    State(usize),
    Round {
        request: usize,
        round: usize,
    },
    Part(usize, Box<State>),
}

impl State {
    /// Of a sequence that never drafts.
    #[must_use]
    pub const fn nowhere() -> Self {
        Self(At::Nowhere)
    }
}

impl Runs {
    /// A process at draft length k.
    #[must_use]
    pub fn new(process: &Process, k: u64) -> Self {
        Self::of_rounds(process, k, 1.0)
    }

    /// The same where only a share of rounds drafts.
    fn of_rounds(process: &Process, k: u64, proposing: f64) -> Self {
        let kind = match process {
            Process::Beyond(nearest) => return Self::of_rounds(nearest, k, proposing),
            Process::Beta { beta, scope: Scope::Sequence } => BetaLaw::new(beta.a(), beta.b()).map(Kind::Kept),
            Process::Spans(of) => Some(Kind::Spans(States::new(of))),
            Process::Trace(trace) => Recording::new(trace, process, k, proposing).map(Kind::Recorded),
            Process::Proposing { share, of } => {
                let of = Self::of_rounds(of, k, share.get());
                (!of.is_independent()).then(|| Kind::Proposing(Test::new(share.get()), Box::new(of)))
            }
            Process::Workloads(parts) => Some(Kind::Parts(cumulative(parts, k))),
            _ => None,
        };
        Self { kind: kind.unwrap_or_else(|| Kind::Independent(Box::new(RoundTable::new(&process.law(k))))), k }
    }

    /// Whether rounds are independent and alike, so that closed forms hold.
    #[must_use]
    pub const fn is_independent(&self) -> bool {
        matches!(self.kind, Kind::Independent(_))
    }

    /// The table of independent rounds.
    #[must_use]
    pub fn table(&self) -> Option<&RoundTable> {
        match &self.kind {
            Kind::Independent(table) => Some(table),
            _ => None,
        }
    }

    /// A new sequence: its alpha, state or request drawn, not its rounds.
    #[must_use]
    pub fn begin(&self, generator: &mut Generator) -> State {
        State(match &self.kind {
            Kind::Independent(_) => At::Nowhere,
            Kind::Kept(law) => At::Alpha(generator.beta(law).ln()),
            Kind::Spans(states) => At::State(pick(&states.starts, generator)),
            Kind::Recorded(recording) => recording.begin(generator),
            Kind::Proposing(_, of) => return of.begin(generator),
            Kind::Parts(parts) => {
                let number = generator.uniform();
                let at = parts.iter().position(|(up_to, _)| number < *up_to).unwrap_or(parts.len() - 1);
                At::Part(at, Box::new(parts[at].1.begin(generator)))
            }
        })
    }

    /// Drafts that the next round of a sequence accepts, at most k.
    pub fn round(&self, state: &mut State, generator: &mut Generator) -> u64 {
        match (&self.kind, &mut state.0) {
            (Kind::Independent(table), _) => table.draw(generator) as u64,
            // A sequence that proposes nothing stands where it stood: what it would have drafted is not known.
            (Kind::Proposing(proposes, _), _) if !proposes.passes(generator) => 0,
            (Kind::Proposing(_, of), _) => of.round(state, generator),
            (Kind::Kept(_), At::Alpha(log)) => geometric(*log, self.k, generator),
            (Kind::Spans(states), At::State(at)) => states.round(at, self.k, generator),
            (Kind::Recorded(recording), At::Round { request, round }) => {
                recording.round(*request, round, self.k, generator)
            }
            (Kind::Parts(parts), At::Part(at, inner)) => parts[*at].1.round(inner, generator),
            // A state of another process: none can be had, since states come from `begin`.
            _ => 0,
        }
    }
}

/// Workloads by the shares of tokens up to each.
fn cumulative(parts: &[Part], k: u64) -> Vec<(f64, Runs)> {
    let all: f64 = parts.iter().map(|part| part.tokens).sum();
    let mut up_to = 0.0;
    let step = |part: &Part| {
        up_to += part.tokens / all;
        (up_to, Runs::new(&part.process, k))
    };
    parts.iter().map(step).collect()
}

/// Tests passed before the first failure, at most k: `floor(ln u / ln alpha)`, u in (0, 1].
fn geometric(log_alpha: f64, k: u64, generator: &mut Generator) -> u64 {
    let number = 1.0 - generator.uniform();
    // A draw may round to alpha = 1, where the quotient has no meaning: every test passes.
    if log_alpha >= 0.0 { k } else { ((number.ln() / log_alpha) as u64).min(k) }
}

/// The position of a draw among shares that sum to one.
fn pick(shares: &[f64], generator: &mut Generator) -> usize {
    let mut number = generator.uniform();
    for (at, share) in shares.iter().enumerate() {
        if number < *share {
            return at;
        }
        number -= share;
    }
    shares.iter().rposition(|share| *share > 0.0).unwrap_or(0)
}

/// Hidden states ready to move.
#[derive(Clone, Debug)]
struct States {
    starts: Vec<f64>,
    tests: Vec<Test>,
    transitions: Vec<Vec<f64>>,
}

impl States {
    fn new(of: &Spans) -> Self {
        // An output starts where text does, not where rounds start in the long run: that is more often in hard spans.
        let starts = spans::positions(of);
        let tests = of.alphas().iter().map(|&alpha| Test::new(alpha)).collect();
        Self { starts, tests, transitions: of.transitions().to_vec() }
    }

    fn round(&self, state: &mut usize, k: u64, generator: &mut Generator) -> u64 {
        let mut accepted = 0;
        while accepted < k && self.tests[*state].passes(generator) {
            *state = pick(&self.transitions[*state], generator);
            accepted += 1;
        }
        // The correction or the bonus is a token too.
        *state = pick(&self.transitions[*state], generator);
        accepted
    }
}

/// Recorded rounds, ready to be replayed.
#[derive(Clone, Debug)]
struct Recording {
    /// Drafted and accepted, of the rounds that drafted, by request.
    requests: Vec<Vec<(u32, u32)>>,
    /// Shares of tokens at this k, up to each request.
    up_to: Vec<f64>,
    /// The test at each position, for rounds that were shorter than k.
    tests: Vec<Test>,
}

impl Recording {
    fn new(trace: &Trace, process: &Process, k: u64, proposing: f64) -> Option<Self> {
        let Rounds::ByRequest(requests) = trace.rounds() else { return None };
        let drafting = |request: &Vec<RoundSeen>| -> Vec<(u32, u32)> {
            let seen = request.iter().map(|round: &RoundSeen| (round.drafted, round.accepted));
            seen.filter(|(drafted, _)| *drafted > 0).collect()
        };
        let requests: Vec<Vec<(u32, u32)>> =
            requests.iter().map(drafting).filter(|request| !request.is_empty()).collect();
        let law = process.law(k);
        // By tokens, so that sequences of equal length give every round the same weight: those seen, and those that rounds
        // shorter than k go on to in the mean.
        let reach: Vec<f64> = std::iter::once(1.0).chain(law.survival().iter().copied()).collect();
        let beyond = |at: usize| reach.iter().skip(at + 1).sum::<f64>() / reach[at];
        let accepted = |&(drafted, accepted): &(u32, u32)| -> f64 {
            let goes_on = accepted == drafted && u64::from(drafted) < k && reach[drafted as usize] > 0.0;
            f64::from(accepted).min(k as f64) + if goes_on { beyond(drafted as usize) } else { 0.0 }
        };
        let tokens =
            |request: &Vec<(u32, u32)>| request.iter().map(|round| 1.0 + proposing * accepted(round)).sum::<f64>();
        let mut sum = 0.0;
        let mut up_to: Vec<f64> = Vec::with_capacity(requests.len());
        for request in &requests {
            sum += tokens(request);
            up_to.push(sum);
        }
        let conditional = law.conditional();
        let tests = conditional.iter().map(|chance| Test::new(chance.unwrap_or(0.0))).collect();
        Some(Self { requests, up_to, tests })
    }

    fn begin(&self, generator: &mut Generator) -> At {
        let all = self.up_to.last().copied().unwrap_or(1.0);
        let number = generator.uniform() * all;
        let request = self.up_to.partition_point(|up_to| *up_to <= number).min(self.requests.len() - 1);
        let round = (generator.uniform() * self.requests[request].len() as f64) as usize;
        At::Round { request, round: round.min(self.requests[request].len() - 1) }
    }

    fn round(&self, request: usize, round: &mut usize, k: u64, generator: &mut Generator) -> u64 {
        let rounds = &self.requests[request];
        let (drafted, accepted) = rounds[*round];
        *round = (*round + 1) % rounds.len();
        let mut accepted = u64::from(accepted).min(k);
        // A round that ran out of drafts goes on as rounds that got so far did.
        if accepted == u64::from(drafted) {
            while accepted < k && self.tests[accepted as usize].passes(generator) {
                accepted += 1;
            }
        }
        accepted
    }
}

/// One decoded sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Rounds until the tokens asked for were out.
    pub rounds: u64,
    /// Tokens that came out, those beyond the end included.
    pub tokens: u64,
    /// Drafts that one of its rounds accepted, drawn so that a round of a batch that is kept full has the law of what was drawn:
    /// sequences of many rounds are met there more often. None in the other cases.
    pub met: Option<u64>,
}

impl Runs {
    /// Decodes one sequence until at least so many tokens are out, and counts its rounds by accepted drafts.
    pub fn run(&self, tokens: u64, generator: &mut Generator, by_accepted: &mut RoundTrials) -> Run {
        let mut state = self.begin(generator);
        let mut run = Run { rounds: 0, tokens: 0, met: None };
        // A sequence has at most as many rounds as tokens. One of so many numbers falls on a round as often as there are rounds,
        // and on each alike.
        let met = (generator.uniform() * tokens as f64) as u64;
        while run.tokens < tokens {
            let accepted = self.round(&mut state, generator);
            by_accepted.count(accepted as usize);
            if run.rounds == met {
                run.met = Some(accepted);
            }
            run.rounds += 1;
            run.tokens += accepted + 1;
        }
        run
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A draw from a Beta law near 1 may round to 1: then every test passes, and none may be taken for none.
    #[test]
    fn an_alpha_of_one_passes_every_test() {
        let mut generator = Generator::from_seed(5);
        assert!((0..1000).all(|_| geometric(0.0, 4, &mut generator) == 4));
        assert!((0..1000).all(|_| geometric(f64::NEG_INFINITY, 4, &mut generator) == 0));
    }
}
