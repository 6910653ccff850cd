//! `engines/<id>.toml` into an [`Engine`].

use crate::catalog::calibration::calibration;
use crate::catalog::lookup::is_id;
use crate::catalog::node::Node;
use crate::catalog::reader::{Fields, Keys, Problems, one_or_many, text};
use crate::catalog::values::{LARGEST_INTEGER, flag, integer, number, quantity, word};
use crate::diagnostic::Diagnostic;
use crate::domain::engine::{
    Additive, Constant, Dispute, Efficiencies, Efficiency, Engine, ExpectedError, Known, Pace, Profile, Quantised,
};
use crate::units::Seconds;
use crate::words::{DrafterKind, Status};

const KEYS: Keys = Keys::all(&[
    "name",
    "form",
    "note",
    "extends",
    "status",
    "versions",
    "disputed_by",
    "constants",
    "family",
    "error",
    "calibration",
]);
const CONSTANTS: Keys = Keys::all(&[
    "t_step",
    "t_draft",
    "t_round",
    "t_sequence",
    "t_moe_layer",
    "routing_independence",
    "routing_power",
    "t_all_reduce",
    "eta_link",
    "accepted_per_proposed",
    "t_round_device",
    "t_tree",
    "t_token",
    "plain_pace",
    "round_pace",
    "t_layer_floor",
    "t_layer_uncaptured",
    "quantised_compute",
    "quantised_bandwidth",
]);
const FAMILY: Keys = Keys::all(&["tested", "eta_bandwidth", "eta_kv", "eta_compute", "t_product", "t_attention"]);

/// The forms an engine's cost can have.
enum Form {
    Ideal,
    Additive,
}

/// Reads an engine. That it adds nothing to the roofline must be said: a file that leaves its
/// efficiencies out would otherwise flatter under a real engine's name.
pub(super) fn engine(root: &Node, id: &str, problems: &mut Problems) -> Option<Engine> {
    let mut fields = Fields::open(root, &KEYS, problems)?;
    let name = fields.required("name", text);
    let form = fields.required("form", form);
    let note = fields.optional("note", text);
    let disputed_by = fields.optional("disputed_by", |node, problems| one_or_many(node, problems, dispute));
    let profile = match form? {
        Form::Ideal => ideal(&mut fields),
        Form::Additive => additive(root, &mut fields).map(|additive| Profile::Additive(Box::new(additive))),
    };
    Some(Engine {
        id: id.to_owned(),
        name: name?,
        profile: profile?,
        note: note?,
        disputed_by: disputed_by?.unwrap_or_default(),
    })
}

/// `{ engine = "…", drafters = ["ngram"] }`
fn dispute(node: &Node, problems: &mut Problems) -> Option<Dispute> {
    let mut fields = Fields::open(node, &Keys::all(&["engine", "drafters"]), problems)?;
    let engine = fields.required("engine", text);
    let drafters = fields.optional("drafters", |node, problems| one_or_many(node, problems, word::<DrafterKind>));
    let engine = engine?;
    if !is_id(&engine) {
        let found = Diagnostic::error("bad-id", format!("`{}.engine` is no id", node.path)).at(&node.place);
        return problems.report(found.hint("an id of the catalog, such as \"sglang-host-bound\""));
    }
    Some(Dispute { engine, drafters: drafters?.unwrap_or_default() })
}

fn form(node: &Node, problems: &mut Problems) -> Option<Form> {
    match text(node, problems)?.as_str() {
        "ideal" => Some(Form::Ideal),
        "additive" => Some(Form::Additive),
        other => {
            let message = format!("`{}` cannot be \"{other}\"", node.path);
            let hint = "\"ideal\" prices without efficiencies and overheads, \"additive\" with those of this file";
            problems.report(Diagnostic::error("unknown-word", message).at(&node.place).hint(hint))
        }
    }
}

fn ideal(fields: &mut Fields<'_, '_>) -> Option<Profile> {
    let mut sound = Some(Profile::Ideal);
    for key in ["extends", "status", "versions", "constants", "family", "error", "calibration"] {
        let refused = fields.optional(key, |node, problems| -> Option<()> {
            let found = Diagnostic::error("conflict", format!("`{key}` has no place in an ideal engine"));
            problems.report(found.at(&node.place).hint("leave it out, or write form = \"additive\""))
        });
        sound = refused.and(sound);
    }
    sound
}

/// The names of the constants that a file states.
fn stated(root: &Node) -> Vec<String> {
    let constants = root.get("constants").and_then(Node::entries).unwrap_or_default();
    constants.iter().map(|entry| entry.key.clone()).collect()
}

fn additive(root: &Node, fields: &mut Fields<'_, '_>) -> Option<Additive> {
    fields.optional("extends", text);
    let stated = stated(root);
    let status = fields.required("status", word::<Status>);
    let versions = fields.optional("versions", text);
    let families = fields.required("family", families);
    let errors = fields.optional("error", errors);
    let calibration = fields.optional("calibration", |node, problems| calibration(node, &stated, problems));
    let constants = fields.required("constants", |node, problems| {
        let mut fields = Fields::open(node, &CONSTANTS, problems)?;
        let step = fields.required("t_step", time);
        let draft = fields.required("t_draft", time);
        let round = fields.required("t_round", time);
        let sequence = fields.required("t_sequence", time);
        let moe_layer = fields.required("t_moe_layer", time);
        let routing_independence = fields.required("routing_independence", share);
        let routing_power = fields.optional("routing_power", share);
        let all_reduce = fields.required("t_all_reduce", time);
        let link = fields.required("eta_link", share);
        let accepted_per_proposed = fields.required("accepted_per_proposed", share);
        let device = fields.optional("t_round_device", time);
        let tree = fields.optional("t_tree", time);
        let token = fields.optional("t_token", time);
        let plain_pace = fields.optional("plain_pace", pace);
        let round_pace = fields.optional("round_pace", pace);
        let layer_floor = fields.optional("t_layer_floor", time);
        let uncaptured_layer = fields.optional("t_layer_uncaptured", time);
        let quantised = quantised(&mut fields);
        Some(Additive {
            status: Status::Assumed,
            versions: None,
            step: step?,
            draft: draft?,
            round: round?,
            sequence: sequence?,
            moe_layer: moe_layer?,
            routing_independence: routing_independence?,
            routing_power: routing_power?,
            all_reduce: all_reduce?,
            link: link?,
            accepted_per_proposed: accepted_per_proposed?,
            device: device?,
            tree: tree?,
            token: token?,
            plain_pace: plain_pace?,
            round_pace: round_pace?,
            layer_floor: layer_floor?,
            uncaptured_layer: uncaptured_layer?,
            quantised: quantised?,
            families: Vec::new(),
            errors: Vec::new(),
            calibration: None,
        })
    });
    Some(Additive {
        status: status?,
        versions: versions?,
        families: families?,
        errors: errors?.unwrap_or_default(),
        calibration: calibration?,
        ..constants?
    })
}

fn quantised(fields: &mut Fields<'_, '_>) -> Option<Option<Quantised>> {
    let compute = fields.optional("quantised_compute", share);
    let bandwidth = fields.optional("quantised_bandwidth", share);
    match (compute?, bandwidth?) {
        (None, None) => Some(None),
        (compute, bandwidth) => {
            let untouched = || Constant { value: Efficiency::FULL, range: None, origin: "not stated".to_owned() };
            Some(Some(Quantised {
                compute: compute.unwrap_or_else(untouched),
                bandwidth: bandwidth.unwrap_or_else(untouched),
            }))
        }
    }
}

fn families(node: &Node, problems: &mut Problems) -> Option<Vec<(String, Efficiencies)>> {
    let Some(entries) = node.entries() else {
        return problems.wrong_type(node, "a table with one table for each family of hardware");
    };
    let read: Vec<Option<(String, Efficiencies)>> =
        entries.iter().map(|entry| Some((entry.key.clone(), efficiencies(&entry.node, problems)?))).collect();
    read.into_iter().collect()
}

fn efficiencies(node: &Node, problems: &mut Problems) -> Option<Efficiencies> {
    let mut fields = Fields::open(node, &FAMILY, problems)?;
    let tested = fields.optional("tested", flag);
    let bandwidth = fields.required("eta_bandwidth", share);
    let kv_bandwidth = fields.optional("eta_kv", share);
    let compute = fields.required("eta_compute", share);
    let product = fields.required("t_product", time);
    let attention = fields.required("t_attention", time);
    Some(Efficiencies {
        bandwidth: bandwidth?,
        kv_bandwidth: kv_bandwidth?,
        compute: compute?,
        product: product?,
        attention: attention?,
        tested: tested?.unwrap_or_default(),
    })
}

fn time(node: &Node, problems: &mut Problems) -> Option<Constant<Seconds>> {
    constant(node, problems, |node, problems| quantity::<Seconds>(node, problems, 0.0))
}

fn share(node: &Node, problems: &mut Problems) -> Option<Constant<Efficiency>> {
    constant(node, problems, |node, problems| {
        let share = number(node, problems, 0.0)?;
        match Efficiency::new(share) {
            Ok(share) => Some(share),
            Err(error) => {
                let found = Diagnostic::error("out-of-range", format!("`{}`: {error}", node.path)).at(&node.place);
                problems.report(found.hint("such as 0.9"))
            }
        }
    })
}

fn pace(node: &Node, problems: &mut Problems) -> Option<Constant<Pace>> {
    constant(node, problems, |node, problems| {
        let pace = number(node, problems, 0.0)?;
        match Pace::new(pace) {
            Ok(pace) => Some(pace),
            Err(error) => {
                let found = Diagnostic::error("out-of-range", format!("`{}`: {error}", node.path)).at(&node.place);
                problems.report(found.hint("1 where passes take as long as priced, 1.1 where a tenth longer"))
            }
        }
    })
}

/// A constant with its range and origin.
fn constant<T: Copy + PartialOrd>(
    node: &Node,
    problems: &mut Problems,
    read: impl Fn(&Node, &mut Problems) -> Option<T>,
) -> Option<Constant<T>> {
    let mut fields = Fields::open(node, &Keys::all(&["value", "low", "high", "origin"]), problems)?;
    let value = fields.required("value", &read);
    let low = fields.optional("low", &read);
    let high = fields.optional("high", &read);
    let origin = fields.required("origin", text);
    let (value, origin) = (value?, origin?);
    let range = match (low?, high?) {
        (Some(low), Some(high)) => Some((low, high)),
        (None, None) => None,
        _ => return wrong_range(node, problems, "has one end of a range without the other"),
    };
    match range {
        Some((low, high)) if !(low <= value && value <= high) => {
            wrong_range(node, problems, "lies outside its own range")
        }
        range => Some(Constant { value, range, origin }),
    }
}

fn wrong_range<T>(node: &Node, problems: &mut Problems, what: &str) -> Option<T> {
    let found = Diagnostic::error("conflict", format!("`{}` {what}", node.path)).at(&node.place);
    problems.report(found.hint("write value, low and high with low <= value <= high, or leave both ends out"))
}

fn errors(node: &Node, problems: &mut Problems) -> Option<Vec<ExpectedError>> {
    Fields::open(node, &Keys::all(&["dense", "moe", "all"]), problems)?;
    let entries = node.entries().unwrap_or_default();
    let read: Vec<Option<ExpectedError>> =
        entries.iter().map(|entry| error(&entry.node, &entry.key, problems)).collect();
    read.into_iter().collect()
}

fn error(node: &Node, class: &str, problems: &mut Problems) -> Option<ExpectedError> {
    let keys = Keys::all(&["median", "p90", "rows", "batch", "context", "source"]);
    let mut fields = Fields::open(node, &keys, problems)?;
    let median = fields.required("median", |node, problems| number(node, problems, 0.0));
    let p90 = fields.required("p90", |node, problems| number(node, problems, 0.0));
    let rows = fields.required("rows", |node, problems| integer(node, problems, 1, 1 << 40));
    let batch = fields.optional("batch", ends);
    let context = fields.optional("context", |node, problems| integer(node, problems, 0, LARGEST_INTEGER));
    fields.required("source", text)?;
    let known = batch?.zip(context?).map(|(batch, context)| Known { batch, context });
    Some(ExpectedError { class: class.to_owned(), median: median?, p90: p90?, rows: rows?, known })
}

/// The least and the largest of something, as a list of two.
pub(super) fn ends(node: &Node, problems: &mut Problems) -> Option<(u64, u64)> {
    let both = one_or_many(node, problems, |node, problems| integer(node, problems, 1, LARGEST_INTEGER))?;
    match both[..] {
        [least, largest] if least <= largest => Some((least, largest)),
        _ => {
            let found = Diagnostic::error("out-of-range", format!("`{}` must be two numbers", node.path));
            problems.report(found.at(&node.place).hint("the least and the largest, such as [1, 256]"))
        }
    }
}
