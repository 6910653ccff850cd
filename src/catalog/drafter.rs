//! `[drafters.<label>]` into a [`Drafter`].

mod together;

use crate::catalog::acceptance::{Context, acceptance};
use crate::catalog::deployment::degree;
use crate::catalog::drafter::together::{unknown_ranks, wrong_together};
use crate::catalog::load::Loader;
use crate::catalog::lookup::is_id;
use crate::catalog::node::{Entry, Node, Value};
use crate::catalog::reader::{Fields, Keys, KindKey, Problems, kind_key, text};
use crate::catalog::shape::tree;
use crate::catalog::values::{LARGEST_INTEGER, flag, integer, number, word};
use crate::diagnostic::Diagnostic;
use crate::domain::acceptance::{Acceptance, AcceptanceModel, Length};
use crate::domain::drafter::{CostRatio, DraftSource, Drafter, HeadSource};
use crate::domain::formats::Format;
use crate::domain::head::{EAGLE3_VOCAB, Head, MEDUSA_HEADS};
use crate::domain::model::Model;
use crate::units::Probability;
use crate::words::{DrafterKind, Dtype, HeadKind, Part, Role, Word};

const KEYS: Keys = Keys {
    known: &[
        "model",
        "eagle",
        "mtp",
        "medusa",
        "block",
        "ngram",
        "suffix",
        "layer_skip",
        "sparse_kv",
        "lookahead",
        "constant",
        "overlap",
        "shape",
        "acceptance",
    ],
};

/// Code of the mistake that a drafter states no acceptance, and nothing published stands in.
pub const NO_ACCEPTANCE: &str = "no-acceptance";

/// The acceptance of a whole scenario, as far as it could be read.
#[derive(Clone, Copy)]
pub(super) enum Shared<'a> {
    Absent,
    Wrong,
    Sound(&'a Acceptance),
}

impl<'a> Shared<'a> {
    /// From the section as it was read: wrong, absent or sound.
    pub(super) const fn of(read: &'a Option<Option<Acceptance>>) -> Self {
        match read {
            None => Self::Wrong,
            Some(None) => Self::Absent,
            Some(Some(acceptance)) => Self::Sound(acceptance),
        }
    }
}

/// Reads every drafter of a scenario; `shared` serves those without an acceptance of their own.
pub(super) fn drafters(
    node: &Node,
    problems: &mut Problems,
    shared: Shared<'_>,
    context: Context<'_>,
    loader: &mut Loader<'_>,
) -> Option<Vec<Drafter>> {
    let Some(entries) = node.entries() else {
        return problems.wrong_type(node, "a table with one table for each drafter");
    };
    let read: Vec<Option<Drafter>> =
        entries.iter().map(|entry| drafter(entry, problems, shared, context, loader)).collect();
    read.into_iter().collect()
}

fn drafter(
    entry: &Entry,
    problems: &mut Problems,
    shared: Shared<'_>,
    context: Context<'_>,
    loader: &mut Loader<'_>,
) -> Option<Drafter> {
    if !is_id(&entry.key) {
        let found = Diagnostic::error("bad-id", format!("`{}` is no drafter label", entry.key)).at(&entry.key_place);
        problems.report::<()>(found.hint("a label has letters, digits, `-`, `_` and `.`, a letter or digit first"));
    }
    let node = &entry.node;
    let mut fields = Fields::open(node, &KEYS, problems)?;
    let overlap = fields.optional("overlap", flag);
    let tree = fields.optional("shape", tree);
    let own = fields.optional("acceptance", |of, problems| match &of.value {
        Value::Text(word) if word == "published" => loader.published_or_told(node, of, problems),
        _ => acceptance(of, problems, loader, context),
    });
    let kinds: Vec<&str> = DrafterKind::ALL.iter().map(|kind| kind.as_str()).collect();
    let drafting = match kind_key(node, &kinds, fields.problems) {
        Some(KindKey::One(kind)) => fields.required(kind, |node, problems| drafting(kind, node, problems, loader)),
        Some(KindKey::Absent) => {
            let found = Diagnostic::error("missing-key", format!("`{}` has no kind", node.path)).at(&entry.key_place);
            let hint = "such as model = { id = \"llama-3.2-1b\" }, eagle = { version = 3 }, mtp = {}, ngram = {}";
            fields.problems.report(found.hint(hint))
        }
        None => None,
    };
    let acceptance = match (own?, shared) {
        (Some(own), _) => Some(own),
        (None, Shared::Sound(shared)) => Some(shared.clone()),
        // The mistake is reported where it stands.
        (None, Shared::Wrong) => None,
        (None, Shared::Absent) if loader.takes_published() && loader.published(node).is_some() => {
            loader.published(node)
        }
        (None, Shared::Absent) => {
            let found = Diagnostic::error(NO_ACCEPTANCE, format!("`{}` has no acceptance", node.path));
            let hint = "give it acceptance.iid = { alpha = 0.7 } or acceptance.mean_length = { tokens = 2.3, k = 3 }, or \
                        the scenario an [acceptance] for all drafters; acceptance = \"published\" takes published \
                        figures of eagle, mtp, block and ngram drafters, as specplan plan does";
            problems.report(found.at(&entry.key_place).hint(hint))
        }
    };
    let (source, longest, tensor_parallel) = drafting?;
    let (overlap, tree, mut acceptance) = (overlap?.unwrap_or_default(), tree?, acceptance?);
    if let (true, None, AcceptanceModel::Trace(trace)) =
        (source.looks_up(), acceptance.proposing_share, &acceptance.model)
    {
        // Its recording says how many rounds propose.
        acceptance.proposing_share = Some(Probability::nearest(trace.proposing_share()));
    }
    if let (true, None, Some(of)) = (source.looks_up(), acceptance.proposing_share, acceptance.read_off()) {
        let Some(share) = of.drafting_share else {
            let message = format!("`{}`: engines do not count rounds in which nothing was looked up", node.path);
            let place = node.at(&["acceptance"]).unwrap_or(node).place.clone();
            let hint = "give acceptance.proposing_share: of all decode steps, those that drafted something";
            return problems.report(Diagnostic::error("missing-key", message).at(&place).hint(hint));
        };
        acceptance.proposing_share = Some(share);
    }
    if let (Some(tree), Some(_), AcceptanceModel::Counts(counts)) = (&tree, acceptance.read_off, &acceptance.model)
        && counts.accepted().len() as u64 == tree.depth()
    {
        // What was printed with this tree is its own mean: positions are its levels.
        let tokens = 1.0 + counts.curve().survival().iter().sum::<f64>();
        acceptance.model = Length::new(tree.depth(), tokens).map_or(acceptance.model, AcceptanceModel::MeanLength);
    }
    if let Some(found) = wrong_together(&source, tree.as_ref(), &acceptance, node) {
        return problems.report(found);
    }
    if overlap && !matches!(source, DraftSource::Model(_)) {
        let place = &node.get("overlap").unwrap_or(node).place;
        let why = match source {
            DraftSource::Head(_) => "a head drafts from what verification has just computed, and cannot run beside it",
            _ => "it takes no devices of its own",
        };
        let message = format!("`{}`: only a separate model can draft while the target verifies: {why}", node.path);
        return problems.report(Diagnostic::error("conflict", message).at(place).hint("leave overlap out"));
    }
    if let Some(found) = unknown_ranks(tree.as_ref(), &acceptance, node) {
        problems.report::<()>(found);
    }
    Some(Drafter { label: entry.key.clone(), source, overlap, tree, longest, tensor_parallel, acceptance })
}

/// What a kind key says: what drafts, the most drafts of a round, devices.
type Drafting = (DraftSource, Option<u64>, Option<u64>);

fn drafting(kind: &str, node: &Node, problems: &mut Problems, loader: &mut Loader<'_>) -> Option<Drafting> {
    let alone = |source: DraftSource| (source, None, None);
    match kind {
        "model" => draft_model(node, problems, loader),
        "eagle" => eagle(node, problems, loader).map(alone),
        "mtp" => mtp(node, problems, loader).map(alone),
        "block" => block(node, problems, loader),
        "medusa" => medusa(node, problems, loader),
        "layer_skip" => {
            let layers = Fields::open(node, &Keys::all(&["layers"]), problems)?
                .required("layers", |node, problems| integer(node, problems, 1, 1 << 20))?;
            Some(alone(DraftSource::LayerSkip { layers }))
        }
        "lookahead" => {
            let mut fields = Fields::open(node, &Keys::all(&["window", "ngram"]), problems)?;
            let window = fields.required("window", |node, problems| integer(node, problems, 1, 1 << 12));
            let ngram = fields.required("ngram", |node, problems| integer(node, problems, 2, 1 << 8));
            Some(alone(DraftSource::Lookahead { window: window?, ngram: ngram? }))
        }
        "sparse_kv" => {
            let budget = Fields::open(node, &Keys::all(&["budget"]), problems)?
                .required("budget", |node, problems| integer(node, problems, 1, LARGEST_INTEGER))?;
            Some(alone(DraftSource::SparseKv { budget }))
        }
        "constant" => constant(node, problems).map(|cost_ratio| alone(DraftSource::Constant { cost_ratio })),
        "ngram" | "suffix" => {
            Fields::open(node, &Keys::all(&[]), problems)?;
            Some(alone(if kind == "ngram" { DraftSource::Ngram } else { DraftSource::Suffix }))
        }
        // Refused by `Fields::open` already.
        _ => None,
    }
}

/// A table is due where people write an id.
fn table_not_text(node: &Node, kind: &str, problems: &mut Problems) -> Option<()> {
    let Value::Text(id) = &node.value else { return Some(()) };
    let found = Diagnostic::error("wrong-type", format!("`{}` must be a table, not a text", node.path));
    problems.report(found.at(&node.place).hint(format!("write {kind} = {{ id = \"{id}\" }}")))
}

fn draft_model(node: &Node, problems: &mut Problems, loader: &mut Loader<'_>) -> Option<Drafting> {
    table_not_text(node, "model", problems)?;
    let mut fields = Fields::open(node, &Keys::all(&["id", "tensor_parallel", "weights"]), problems)?;
    let parallel = fields.optional("tensor_parallel", degree);
    let weights = fields.optional("weights", word::<Dtype>);
    let model = fields.required("id", |node, problems| {
        text(node, problems)?;
        let model = loader.model(node, problems)?;
        if model.role == Role::Head {
            let message = format!("`{}` is a head: it drafts from its target's hidden state, not on its own", model.id);
            let found = Diagnostic::error("wrong-role", message).at(&node.place);
            return problems.report(found.hint("name it under eagle, mtp or block"));
        }
        Some(model)
    });
    let (parallel, weights, mut model) = (parallel?, weights?, model?);
    if let Some(weights) = weights {
        model.formats = model.formats.with_weights(Format::usual(weights), [None; Part::COUNT]);
    }
    Some((DraftSource::Model(model), None, parallel))
}

/// A head of the catalog that drafts in one of some ways.
fn named_head(fields: &mut Fields<'_, '_>, kinds: &[HeadKind], loader: &mut Loader<'_>) -> Option<Option<Box<Model>>> {
    fields.optional("id", |node, problems| {
        text(node, problems)?;
        let model = loader.model(node, problems)?;
        match model.head_kind() {
            Some(kind) if kinds.contains(&kind) => Some(Box::new(model)),
            found => {
                let is = found.map_or_else(|| "no head".to_owned(), |kind| format!("a head of kind {kind}"));
                let message = format!("`{}` is {is}, and {} is due", model.id, kinds[0]);
                problems.report(Diagnostic::error("wrong-role", message).at(&node.place))
            }
        }
    })
}

fn eagle(node: &Node, problems: &mut Problems, loader: &mut Loader<'_>) -> Option<DraftSource> {
    table_not_text(node, "eagle", problems)?;
    let mut fields = Fields::open(node, &Keys::all(&["version", "id", "draft_vocab"]), problems)?;
    let version = fields.required("version", |node, problems| integer(node, problems, 1, 3));
    let draft_vocab = fields.optional("draft_vocab", |node, problems| integer(node, problems, 1, 1 << 24));
    // EAGLE-2 has the head of EAGLE-1 and drafts another tree.
    let kinds: &[HeadKind] = match version {
        Some(3) => &[HeadKind::Eagle3],
        Some(_) => &[HeadKind::Eagle1],
        None => &[HeadKind::Eagle3, HeadKind::Eagle1],
    };
    let (kind, head) = (kinds[0], named_head(&mut fields, kinds, loader));
    version?;
    let (draft_vocab, head) = (draft_vocab?, head?);
    let own = if kind == HeadKind::Eagle3 { Some(draft_vocab.unwrap_or(EAGLE3_VOCAB)) } else { draft_vocab };
    Some(DraftSource::Head(match head {
        Some(_) if draft_vocab.is_some() => {
            let message = format!("`{}` names a head, which has a vocabulary already", node.path);
            return problems.report(Diagnostic::error("conflict", message).at(&node.place).hint("keep one of them"));
        }
        Some(model) => HeadSource::Named(model),
        None => HeadSource::Derived(Head { kind, draft_vocab: own, copies: 1, reads: None }),
    }))
}

/// Heads by number, or those of a file: each drafts one token.
fn medusa(node: &Node, problems: &mut Problems, loader: &mut Loader<'_>) -> Option<Drafting> {
    let mut fields = Fields::open(node, &Keys::all(&["heads", "id"]), problems)?;
    let heads = fields.optional("heads", |node, problems| integer(node, problems, 1, 64));
    let named = named_head(&mut fields, &[HeadKind::Medusa], loader);
    let (heads, named) = (heads?, named?);
    let Some(model) = named else {
        let copies = heads.unwrap_or(MEDUSA_HEADS);
        let head = Head { kind: HeadKind::Medusa, draft_vocab: None, copies, reads: None };
        return Some((DraftSource::Head(HeadSource::Derived(head)), Some(copies), None));
    };
    let held = model.head().map(|head| head.copies);
    if heads.is_some() && heads != held {
        let message = format!("`{}` names heads, of which there are {} already", node.path, held.unwrap_or_default());
        return problems.report(Diagnostic::error("conflict", message).at(&node.place).hint("leave heads out"));
    }
    Some((DraftSource::Head(HeadSource::Named(model)), held, None))
}

fn mtp(node: &Node, problems: &mut Problems, loader: &mut Loader<'_>) -> Option<DraftSource> {
    table_not_text(node, "mtp", problems)?;
    let mut fields = Fields::open(node, &Keys::all(&["depth", "id"]), problems)?;
    let depth = fields.optional("depth", |node, problems| integer(node, problems, 1, 64));
    let head = named_head(&mut fields, &[HeadKind::Mtp], loader);
    let derived = Head { kind: HeadKind::Mtp, draft_vocab: None, copies: depth?.unwrap_or(1), reads: None };
    Some(DraftSource::Head(head?.map_or(HeadSource::Derived(derived), HeadSource::Named)))
}

fn block(node: &Node, problems: &mut Problems, loader: &mut Loader<'_>) -> Option<Drafting> {
    table_not_text(node, "block", problems)?;
    let mut fields = Fields::open(node, &Keys::all(&["id", "block"]), problems)?;
    let longest = fields.optional("block", |node, problems| integer(node, problems, 1, 1 << 20));
    let head = named_head(&mut fields, &[HeadKind::Block], loader);
    let derived = Head { kind: HeadKind::Block, draft_vocab: None, copies: 1, reads: None };
    let head = head?.map_or(HeadSource::Derived(derived), HeadSource::Named);
    Some((DraftSource::Head(head), longest?, None))
}

fn constant(node: &Node, problems: &mut Problems) -> Option<CostRatio> {
    let read = |node: &Node, problems: &mut Problems| {
        let ratio = number(node, problems, 0.0)?;
        match CostRatio::new(ratio) {
            Ok(ratio) => Some(ratio),
            Err(error) => problems.report(Diagnostic::error("out-of-range", error.to_string()).at(&node.place)),
        }
    };
    Fields::open(node, &Keys::all(&["cost_ratio"]), problems)?.required("cost_ratio", read)
}
