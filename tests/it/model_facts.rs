//! Every built-in model against a table of shapes that is kept apart from the files, so that a slip in either shows.

use std::collections::HashMap;
use std::path::Path;

use specplan::catalog::builtin;
use specplan::catalog::load::{Entry, entry};
use specplan::catalog::lookup::SearchPath;
use specplan::domain::attention::Attention;
use specplan::domain::layers::Layers;
use specplan::domain::model::{Model, Shape};
use specplan::words::{HeadKind, Kind, Role};

/// Shapes by column; an empty cell states nothing.
type Row = HashMap<String, String>;

fn rows() -> Vec<Row> {
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/facts/models.csv");
    csv::Reader::from_path(table).unwrap().deserialize().map(Result::unwrap).collect()
}

fn model(id: &str) -> Model {
    let found = entry(&SearchPath::default(), Kind::Models, id).map_err(|found| format!("{id}: {found:#?}")).unwrap().0;
    let model = if let Entry::Model(model) = found { Some(*model) } else { None };
    model.unwrap()
}

/// What a file says, by the table's columns.
fn said(model: &Model, layers: &Layers) -> HashMap<&'static str, String> {
    let mut said = HashMap::from([
        ("hidden", layers.hidden().to_string()),
        ("vocab", layers.vocab().to_string()),
        ("kv_bytes", model.kv_bytes_per_token().get().to_string()),
    ]);
    if model.role != Role::Head {
        said.insert("tied", layers.tied_embeddings().to_string());
    }
    if layers.layers() > 0.0 {
        said.insert("layers", layers.layers().to_string());
    }
    let all: f64 =
        layers.groups().iter().filter(|group| group.attention.sees_all()).map(|group| group.count as f64).sum();
    said.insert("global_layers", (all + 0.0).to_string());
    for group in layers.groups() {
        match &group.attention {
            Attention::Gqa(gqa) => {
                said.insert("heads", gqa.heads().to_string());
                said.insert("kv_heads", gqa.kv_heads().to_string());
                said.insert("head_dim", gqa.head_dim().to_string());
                gqa.window().map(|window| said.insert("window", window.to_string()));
            }
            Attention::Mla(mla) => {
                said.insert("kv_lora", mla.rank().to_string());
            }
            _ => {}
        }
        if let Some(moe) = group.ffn.moe() {
            said.insert("experts", moe.experts().to_string());
            said.insert("top_k", moe.top_k().to_string());
            said.insert("shared", moe.shared().to_string());
            said.insert("expert_width", moe.intermediate().to_string());
        } else {
            said.insert("intermediate", group.ffn.intermediate().to_string());
        }
    }
    said
}

/// Small parts that the table leaves out: norms, biases, corrections of experts; P-EAGLE's second input.
fn near(id: &str, total: f64, computed: f64) -> bool {
    // What a drafter reads of its target is in the file and not in the table: three or five times h x h.
    let most = if ["p-eagle", "dflash", "dspark"].iter().any(|kind| id.starts_with(kind)) { 0.09 } else { 0.0005 };
    (total / computed - 1.0).abs() <= most
}

#[test]
fn every_model_of_the_table_has_a_file_of_its_shape() {
    let mut wrong = Vec::new();
    for row in rows() {
        let id = row["id"].as_str();
        let model = model(id);
        let Shape::Layers(layers) = &model.shape else { continue };
        let said = said(&model, layers);
        for (column, value) in &said {
            // Of heads over a latent the table gives the width of a key; of mixtures the width of an expert twice.
            let told = row.get(*column).filter(|told| !told.is_empty());
            let other = row["kv_lora"].is_empty() && (*column != "intermediate" || row["experts"].is_empty());
            let compared = other || !["heads", "kv_heads", "head_dim", "intermediate"].contains(column);
            if let Some(told) = told.filter(|told| compared && *told != value) {
                wrong.push(format!("{id}: {column} is {value}, not {told}"));
            }
        }
        let figure = |column: &str| row[column].parse::<f64>().ok();
        let total = model.total_params();
        if let Some(computed) = figure("total").filter(|computed| !near(id, total, *computed)) {
            wrong.push(format!("{id}: counts to {total}, not {computed}"));
        }
        if let Some(published) = figure("total_published").filter(|published| (total / published - 1.0).abs() > 0.02) {
            wrong.push(format!("{id}: counts to {total}, published are {published}"));
        }
        let head = row["role"] == "head";
        let fits = &row["target"];
        if head != (model.role == Role::Head) || head && !model.fits.contains(fits) {
            wrong.push(format!("{id}: a {} that fits {:?}, not {fits}", model.role, model.fits));
        }
        let own = model.head().filter(|head| head.kind == HeadKind::Eagle3).and_then(|head| head.draft_vocab);
        if let Some(own) = own.filter(|own| own.to_string() != row["draft_vocab"]) {
            wrong.push(format!("{id}: scores {own} rows, not {}", row["draft_vocab"]));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A head fits a target that exists and has its width and its vocabulary; every model says where it is from.
#[test]
fn heads_fit_targets_of_their_width() {
    for id in builtin::ids(Kind::Models) {
        let head = model(&id);
        assert!(head.source.as_ref().is_some_and(|source| source.trim().len() > 5), "{id} has no source");
        assert_eq!(head.role == Role::Head, !head.fits.is_empty(), "{id} fits {:?}", head.fits);
        let width = |model: &Model| match &model.shape {
            Shape::Layers(layers) => layers.hidden() as u64,
            Shape::Aggregate(_) => 0,
        };
        for target in head.fits.iter().map(|id| model(id)) {
            assert_eq!((width(&head), head.vocab), (width(&target), target.vocab), "{id} for {}", target.id);
        }
    }
}
