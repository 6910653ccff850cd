//! The matrices of a model by the names that checkpoints give them, so that lists of modules can be weighed.

use regex_lite::{Regex, RegexBuilder};

use crate::domain::attention::Attention;
use crate::domain::ffn::{Ffn, Moe};
use crate::domain::layers::Layers;
use crate::import::hf::formats::patterns::{
    experts_alike, fits, fits_anywhere, is_beside, is_outside, layer_of, names_expert, names_number,
};
use crate::words::Part;

/// One matrix of one layer, or of the two ends.
pub(super) struct Matrix {
    /// None at the ends.
    layer: Option<u64>,
    pub(super) part: Part,
    pub(super) params: f64,
    /// What it lies in, under its layer: families call it differently.
    within: &'static [&'static str],
    /// Its own names, also as a part of a joint matrix.
    names: &'static [&'static str],
    /// How many experts it holds one for each of; 0: it is no expert's.
    pub(super) experts: u64,
}

/// All matrices of a model.
pub(super) struct Matrices {
    pub(super) all: Vec<Matrix>,
}

/// What a name or a pattern means here.
pub(super) enum Meant {
    /// These matrices.
    These(Vec<Of>),
    /// Something that is not counted as a matrix: norms, routers, filters, towers, modules beside the model.
    Beside,
    /// Nothing that is known.
    Nothing,
}

/// A matrix by its position, and one of its experts; none: all of it.
pub(super) type Of = (usize, Option<u64>);

/// Patterns beyond this are not compared with the names of one layer, where all layers are alike.
const MOST_PATTERNS: usize = 200;
/// Comparisons with the names of every layer beyond this are not made: seconds of work.
const MOST_COMPARED: usize = 50_000;
/// Layers beyond this are not compared with patterns.
const MOST_LAYERS: usize = 1000;
/// A longer expression means nothing.
const LONGEST_EXPRESSION: usize = 2000;
/// Bytes that an expression may take.
const LARGEST_EXPRESSION: usize = 1 << 18;

const ATTENTION: &[&str] = &["self_attn", "attn", "attention", "self_attention", "mixer"];
const LINEAR: &[&str] = &["linear_attn", "self_attn", "mixer"];
const STATE: &[&str] = &["mixer", "mamba"];
const DENSE: &[&str] = &["mlp", "feed_forward", "ffn", "mixer"];
const EXPERTS: &[&str] =
    &["mlp.experts.0", "block_sparse_moe.experts.0", "feed_forward.experts.0", "mixer.experts.0", "ffn.experts.0"];
const APART: &[&str] = &["experts.0", "moe.experts.0"];
const SHARED: &[&str] = &[
    "mlp.shared_experts",
    "mlp.shared_expert",
    "feed_forward.shared_expert",
    "mixer.shared_experts",
    "ffn.shared_experts",
    "shared_mlp",
];
const Q: &[&str] = &["q_proj", "qkv_proj", "query_key_value", "c_attn", "Wqkv", "qkv", "query"];
const K: &[&str] = &["k_proj", "qkv_proj", "query_key_value", "c_attn", "Wqkv", "qkv", "key"];
const V: &[&str] = &["v_proj", "qkv_proj", "query_key_value", "c_attn", "Wqkv", "qkv", "value"];
const O: &[&str] = &["o_proj", "out_proj", "dense", "c_proj", "wo"];
const GATE: &[&str] = &["gate_proj", "gate_up_proj", "w1"];
const UP: &[&str] = &["up_proj", "gate_up_proj", "w3", "fc1", "c_fc", "fc_in", "dense_h_to_4h"];
const DOWN: &[&str] = &["down_proj", "w2", "fc2", "c_proj", "fc_out", "dense_4h_to_h"];

impl Matrices {
    /// The matrices of layers in their order, and of both ends.
    pub(super) fn of(each: &[(Attention, Ffn)], layers: &Layers, experts_apart: bool) -> Self {
        let (h, inputs) = (layers.hidden(), layers.qkv_inputs());
        let mut all = Vec::new();
        for (at, (attention, ffn)) in each.iter().enumerate() {
            let mut add = |part, params: f64, within, names| {
                let experts = if let (Part::Experts, Ffn::Moe(moe)) = (part, ffn) { moe.experts() } else { 0 };
                if params > 0.0 {
                    all.push(Matrix { layer: Some(at as u64), part, params, within, names, experts });
                }
            };
            of_attention(attention, inputs, h, &mut add);
            of_ffn(ffn, h, experts_apart, &mut add);
        }
        let ends = [(Part::LmHead, HEAD), (Part::Embedding, EMBEDDING)];
        for (part, names) in ends {
            all.push(Matrix { layer: None, part, params: layers.lm_head_params(), within: &[""], names, experts: 0 });
        }
        Self { all }
    }

    /// The matrices that a name or a pattern means: `re:` before a regular expression, `*` for anything.
    pub(super) fn meant(&self, pattern: &str) -> Meant {
        let found = match pattern.strip_prefix("re:") {
            Some(expression) => self.by_expression(expression),
            None => self.by_name(pattern),
        };
        match found {
            found if !found.is_empty() => Meant::These(found),
            // Modules for multi-token prediction follow the layers.
            _ if is_beside(pattern) || self.is_after(pattern) => Meant::Beside,
            _ => Meant::Nothing,
        }
    }

    fn is_after(&self, pattern: &str) -> bool {
        let last = self.all.iter().filter_map(|matrix| matrix.layer).max();
        layer_of(pattern).0.and_then(|layer| layer.parse::<u64>().ok()) > last
    }

    fn by_expression(&self, expression: &str) -> Vec<Of> {
        // Names are matched from their start, as `re.match` does.
        let whole = format!("^(?:{expression})");
        let build = || RegexBuilder::new(&whole).size_limit(LARGEST_EXPRESSION).build().ok();
        let Some(regex) = (whole.len() <= LONGEST_EXPRESSION).then(build).flatten() else { return Vec::new() };
        let is = |matrix: &Matrix| (0..matrix.spellings()).any(|way| regex.is_match(&matrix.full_name(0, way)));
        if !names_number(expression) {
            // What names no number means the same in every layer, and of every expert.
            return all_of(self.alike(is));
        }
        let by_expert = |matrix: &Matrix| names_expert(expression) && matrix.experts > 0;
        let of_all = self.all.iter().enumerate().filter(|(_, matrix)| !by_expert(matrix) && is(matrix));
        let mut found = all_of(of_all.map(|(at, _)| at).collect());
        let mut apart: Vec<usize> = (0..self.all.len()).filter(|at| by_expert(&self.all[*at])).collect();
        apart.sort_by_key(|at| self.all[*at].kind());
        for alike in apart.chunk_by(|one, other| self.all[*one].kind() == self.all[*other].kind()) {
            found.extend(self.experts_of(alike, &regex));
        }
        found
    }

    /// The experts that an expression means, of matrices that are called alike. Names are spelled as in the first, the
    /// last or a layer between if it means any there, else in every way.
    fn experts_of(&self, alike: &[usize], regex: &Regex) -> Vec<Of> {
        let means = |at: usize, expert: u64, way: usize| regex.is_match(&self.all[at].full_name(expert, way));
        let sample = [alike[0], alike[alike.len() / 2], alike[alike.len() - 1]];
        let ways = 0..self.all[alike[0]].spellings();
        let used = |way: &usize| sample.iter().any(|at| (0..self.all[*at].experts).any(|one| means(*at, one, *way)));
        let ways = ways.clone().find(used).map_or_else(|| ways.collect(), |way| vec![way]);
        let experts = alike.iter().flat_map(|at| (0..self.all[*at].experts).map(|expert| (*at, expert)));
        experts
            .filter(|(at, expert)| ways.iter().any(|way| means(*at, *expert, *way)))
            .map(|(at, expert)| (at, Some(expert)))
            .collect()
    }

    /// The matrices of which the first of its kind matches.
    fn alike(&self, matches: impl Fn(&Matrix) -> bool) -> Vec<usize> {
        let mut kinds: Vec<(Kind, bool)> = Vec::new();
        let of_kind = |matrix: &Matrix| {
            let kind = matrix.kind();
            match kinds.iter().find(|(known, _)| *known == kind) {
                Some((_, does)) => *does,
                None => {
                    let does = matches(matrix);
                    kinds.push((kind, does));
                    does
                }
            }
        };
        let mut of_kind = of_kind;
        self.all.iter().enumerate().filter(|(_, matrix)| of_kind(matrix)).map(|(at, _)| at).collect()
    }

    fn by_name(&self, pattern: &str) -> Vec<Of> {
        if is_outside(pattern) {
            return Vec::new();
        }
        let (layer, rest) = layer_of(pattern);
        let (rest, expert) = experts_alike(rest);
        let of = |found: Vec<usize>| -> Vec<Of> {
            let known = |at: &usize| expert.is_none_or(|expert| expert < self.all[*at].experts);
            found.into_iter().filter(known).map(|at| (at, expert)).collect()
        };
        let Some(layer) = layer else {
            return of(self.alike(|matrix| match matrix.layer {
                Some(_) => matrix.paths().any(|path| fits_anywhere(&rest, &format!("model.layers.0.{path}"))),
                None => matrix.names.iter().any(|name| fits_anywhere(&rest, name)),
            }));
        };
        let matches = |matrix: &Matrix| match matrix.layer {
            Some(at) => {
                let number = at.to_string();
                let here = if rest.starts_with('*') { number.starts_with(&layer) } else { number == layer };
                here && matrix.paths().any(|path| fits(rest.trim_start_matches('.'), &path))
            }
            None => false,
        };
        of(self.all.iter().enumerate().filter(|(_, matrix)| matches(matrix)).map(|(at, _)| at).collect())
    }

    /// Whether so many patterns can be compared with every name.
    pub(super) fn can_compare(&self, patterns: &[String]) -> bool {
        let last = self.all.iter().filter_map(|matrix| matrix.layer).max().unwrap_or(0);
        let open = |pattern: &&String| pattern.starts_with("re:") || layer_of(pattern).0.is_none();
        let experts: usize = self.all.iter().map(|matrix| matrix.experts.max(1) as usize).sum();
        let names = |expression: &str| if names_expert(expression) { experts } else { self.all.len() };
        let each = patterns.iter().filter_map(|pattern| pattern.strip_prefix("re:"));
        let compared: usize = each.filter(|expression| names_number(expression)).map(names).sum();
        patterns.iter().filter(open).count() <= MOST_PATTERNS && compared <= MOST_COMPARED && last < MOST_LAYERS as u64
    }
}

/// What tells matrices apart that are called differently: whether in a layer, and where their names are.
type Kind = (bool, *const &'static str, *const &'static str);

impl Matrix {
    fn kind(&self) -> Kind {
        (self.layer.is_some(), self.within.as_ptr(), self.names.as_ptr())
    }

    /// Its names under its layer.
    fn paths(&self) -> impl Iterator<Item = String> {
        self.within.iter().flat_map(|within| {
            self.names
                .iter()
                .map(move |name| if within.is_empty() { (*name).to_owned() } else { format!("{within}.{name}") })
        })
    }

    /// In how many ways its whole name is spelled.
    const fn spellings(&self) -> usize {
        BEFORE.len() * self.within.len() * self.names.len()
    }

    /// Its whole name, or one expert's, in one of the ways that checkpoints of text and of multimodal models have.
    fn full_name(&self, expert: u64, way: usize) -> String {
        let (before, path) = (BEFORE[way % BEFORE.len()], way / BEFORE.len());
        let (within, name) = (self.within[path % self.within.len()], self.names[path / self.within.len()]);
        let within = within.replacen("experts.0", &format!("experts.{expert}"), 1);
        let dot = if within.is_empty() { "" } else { "." };
        match self.layer {
            Some(layer) => format!("{before}layers.{layer}.{within}{dot}{name}"),
            None => format!("{before}{within}{dot}{name}"),
        }
    }
}

/// What names start with.
const BEFORE: [&str; 4] = ["model.", "model.language_model.", "language_model.model.", ""];

/// Matrices of which all is meant.
fn all_of(found: Vec<usize>) -> Vec<Of> {
    found.into_iter().map(|at| (at, None)).collect()
}

const HEAD: &[&str] = &["lm_head", "language_model.lm_head", "head", "output", "embed_out"];
const EMBEDDING: &[&str] = &[
    "model.embed_tokens",
    "embed_tokens",
    "language_model.model.embed_tokens",
    "model.language_model.embed_tokens",
    "backbone.embeddings",
    "transformer.wte",
    "embed",
];

type Add<'a> = dyn FnMut(Part, f64, &'static [&'static str], &'static [&'static str]) + 'a;

fn of_attention(attention: &Attention, inputs: f64, h: f64, add: &mut Add<'_>) {
    let part = Part::Attention;
    match attention {
        Attention::Gqa(gqa) => {
            let keys = inputs * gqa.kv_width();
            let values = inputs * gqa.projected_width() - inputs * gqa.query_width() - keys;
            add(part, inputs * gqa.query_width(), ATTENTION, Q);
            add(part, keys, ATTENTION, K);
            add(part, values, ATTENTION, V);
            add(part, gqa.output_width() * h, ATTENTION, O);
        }
        Attention::Mla(mla) => {
            let queries = mla.heads() as f64 * (mla.head_widths()[0] + mla.head_widths()[1]) as f64;
            match mla.q_lora() {
                Some(rank) => {
                    add(part, inputs * rank as f64, ATTENTION, &["q_a_proj", "fused_qkv_a_proj"]);
                    add(part, rank as f64 * queries, ATTENTION, &["q_b_proj"]);
                }
                None => add(part, inputs * queries, ATTENTION, &["q_proj"]),
            }
            add(part, inputs * mla.latent_width(), ATTENTION, &["kv_a_proj_with_mqa", "fused_qkv_a_proj"]);
            add(part, mla.absorb_params(), ATTENTION, &["kv_b_proj"]);
            add(part, mla.output_width() * h, ATTENTION, O);
        }
        Attention::Linear(linear) => {
            let gate = inputs * linear.value_width();
            let [_, values] = linear.heads();
            let small = inputs * 2.0 * values as f64;
            add(part, inputs * linear.projected_width() - gate - small, LINEAR, &["in_proj_qkv", "in_proj_qkvz"]);
            add(part, gate, LINEAR, &["in_proj_z", "in_proj_qkvz"]);
            add(part, linear.value_width() * h, LINEAR, &["out_proj"]);
        }
        Attention::Ssm(ssm) => {
            add(part, ssm.projection_params(inputs), STATE, &["in_proj"]);
            add(part, ssm.inner() * h, STATE, &["out_proj"]);
        }
        Attention::None => {}
    }
}

fn of_ffn(ffn: &Ffn, h: f64, experts_apart: bool, add: &mut Add<'_>) {
    match ffn {
        Ffn::Gated { intermediate } => three(Part::Ffn, h * *intermediate as f64, true, DENSE, add),
        Ffn::Plain { intermediate } => three(Part::Ffn, h * *intermediate as f64, false, DENSE, add),
        Ffn::Moe(moe) => {
            let matrices = if moe.plain() { 2.0 } else { 3.0 };
            // Gemma-4 has its experts beside a dense part of the usual name.
            let (picked, shared) = if experts_apart { (APART, DENSE) } else { (EXPERTS, SHARED) };
            three(Part::Experts, experts(moe, h) / matrices, !moe.plain(), picked, add);
            three(Part::Ffn, moe.shared_params(h) / matrices, !moe.plain(), shared, add);
        }
        Ffn::None => {}
    }
}

fn experts(moe: &Moe, h: f64) -> f64 {
    moe.experts() as f64 * moe.expert_params(h)
}

/// Up and down, and a gate if there is one.
fn three(part: Part, each: f64, gated: bool, within: &'static [&'static str], add: &mut Add<'_>) {
    if gated {
        add(part, each, within, GATE);
    }
    add(part, each, within, UP);
    add(part, each, within, DOWN);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::attention::Gqa;
    use crate::domain::layers::{Extras, LayerGroup};

    fn model() -> Matrices {
        let attention = Attention::Gqa(Gqa::new(8, 2, 8, None).unwrap());
        let each = vec![(attention, Ffn::Gated { intermediate: 128 }); 12];
        let group = LayerGroup { count: 12, attention, ffn: each[0].1 };
        Matrices::of(&each, &Layers::new(64, 100, false, vec![group], Extras::NONE).unwrap(), false)
    }

    /// Matrices by part that a pattern means; none if it means nothing, -1 for what lies beside.
    fn count(pattern: &str) -> [i64; 3] {
        let model = model();
        match model.meant(pattern) {
            Meant::These(found) => [Part::Attention, Part::Ffn, Part::LmHead]
                .map(|part| found.iter().filter(|(at, _)| model.all[*at].part == part).count() as i64),
            Meant::Beside => [-1; 3],
            Meant::Nothing => [0; 3],
        }
    }

    #[test]
    fn names_and_patterns_mean_matrices() {
        for (pattern, meant) in [
            ("lm_head", [0, 0, 1]),
            ("*lm_head*", [0, 0, 1]),
            ("model.layers.3.self_attn.q_proj", [1, 0, 0]),
            ("model.layers.3.self_attn", [4, 0, 0]),
            ("model.layers.3.self_attn*", [4, 0, 0]),
            ("model.layers.1*", [12, 9, 0]),
            ("model.layers.1.*", [4, 3, 0]),
            ("transformer.h.0.mlp.dense_h_to_4h", [0, 1, 0]),
            ("re:.*self_attn.*", [48, 0, 0]),
            ("re:.*down_proj", [0, 12, 0]),
            (r"re:.*layers\.[0-3]\.mlp\..*", [0, 12, 0]),
            ("re:.*", [48, 36, 1]),
            ("*down_proj*", [0, 12, 0]),
            ("self_attn", [48, 0, 0]),
            ("re:.*post_attention_layernorm", [-1; 3]),
            ("model.layers.2.post_attention_layernorm", [-1; 3]),
            ("model.layers.*.mlp.router", [-1; 3]),
            ("mtp*", [-1; 3]),
            ("vision_model.layers.0.self_attn.q_proj", [-1; 3]),
            ("re:.*(", [0; 3]),
            // Neither takes memory or time.
            ("re:(((a{1000}){1000}){1000})", [0; 3]),
            (&format!("re:{}.*", "(a*)*".repeat(5000)), [0; 3]),
            ("nonexistent.module", [0; 3]),
        ] {
            assert_eq!(count(pattern), meant, "{pattern}");
        }
    }
}
