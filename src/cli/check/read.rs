//! What the names of a launch command come to: looked up, assumed, or to be given.

use serde_json::Value;

use crate::catalog::lookup::{SearchPath, is_id};
use crate::cli::args::check::CheckArgs;
use crate::cli::check::resolve::{self, Found};
use crate::cli::error::Error;
use crate::cli::opening::catalog_folder;
use crate::domain::device::Device;
use crate::domain::formats::Format;
use crate::domain::model::Model;
use crate::import::launch::{Drafting, Launch};
use crate::report::launch_study::{Means, formats};
use crate::words::{DrafterKind, Dtype, HeadKind, Kind, Server, Word};

/// Running requests of SGLang where speculation is on and nobody says how many.
const SGLANG_LIMIT: u64 = 48;

/// What a command comes to: names looked up, and what was assumed.
pub(super) struct Read {
    pub(super) launch: Launch,
    pub(super) search: SearchPath,
    pub(super) means: Means,
    pub(super) target: Option<Model>,
    /// Accelerators that there are.
    pub(super) count: Option<u64>,
    pub(super) assumed: Vec<String>,
    /// Whether nobody knows anything of its acceptance.
    pub(super) unmeasured: bool,
    /// What has to be given before anything can be priced.
    pub(super) missing: Vec<(String, String)>,
}

impl Read {
    /// What the server sets by itself where the command does not: SGLang runs 48 requests with speculation
    /// (<https://github.com/sgl-project/sglang/pull/34290>).
    fn limit_of_server(&self) -> Option<u64> {
        let of = &self.launch.settings;
        let drafts = matches!(of.drafting, Drafting::Of(..));
        (self.launch.server == Server::Sglang && drafts && of.max_num_seqs.is_none()).then_some(SGLANG_LIMIT)
    }

    /// Whether a served name may be that of the target: one that the catalog knows as another model is not.
    pub(super) fn may_be_target(&self, named: &str) -> bool {
        let found = resolve::model(&self.search, named, resolve::is_target).entry;
        found.is_none_or(|model| Some(&model.id) == self.means.target.as_ref())
    }

    /// Prices with that limit, and says so.
    pub(super) fn own_limit(&mut self) {
        self.means.own_limit = self.limit_of_server();
        if let Some(limit) = self.means.own_limit {
            self.assumed.push(format!("no more than {limit} requests run at once, with speculation or without"));
        }
    }

    /// Whether somebody counted what is accepted at the draft length of the command.
    pub(super) fn is_counted(&self, args: &CheckArgs) -> bool {
        self.means.acceptance.is_some() && args.alpha.is_none() && !self.unmeasured
    }
}

/// Looks up every name of a command.
pub(super) fn resolved(args: &CheckArgs, launch: Launch) -> Result<Read, Error> {
    let search = SearchPath::new(catalog_folder(args.catalog.as_deref())?);
    let mut read = Read {
        launch,
        search,
        means: Means::default(),
        target: None,
        count: None,
        assumed: Vec::new(),
        unmeasured: false,
        missing: Vec::new(),
    };
    read.means.engine = Some(args.engine.clone().unwrap_or_else(|| profile(read.launch.server).to_owned()));
    read.means.context = args.context;
    let device = hardware(args, &mut read);
    target(args, &mut read)?;
    drafter(args, &mut read)?;
    memory(&mut read, device.as_ref());
    devices(&mut read);
    Ok(read)
}

/// The profile of a server.
const fn profile(server: Server) -> &'static str {
    match server {
        Server::Vllm => "vllm",
        Server::Sglang => "sglang",
        Server::TensorRtLlm => "trtllm",
        Server::LlamaCpp => "llama-cpp",
    }
}

fn hardware(args: &CheckArgs, read: &mut Read) -> Option<Device> {
    let Some(text) = &args.gpu else {
        read.missing.push((
            "no accelerator is named".to_owned(),
            "give --gpu, such as --gpu H100 or --gpu 'NVIDIA H200 x8'".to_owned(),
        ));
        return None;
    };
    let (Found { written, entry, note }, count) = resolve::hardware(&read.search, text);
    read.count = count;
    read.assumed.extend(note);
    read.means.hardware = Some(entry.as_ref().map_or(written.clone(), |device| device.id.clone()));
    match &entry {
        Some(device) => read.means.has_fp4 = resolve::has_fp4(device),
        None => {
            let hint = "specplan catalog list hardware names all; describe others in a file, and give its path: --gpu ./mine.toml";
            read.missing.push((format!("the catalog has no accelerator called \"{written}\""), hint.to_owned()));
            read.means.unresolved.push(written);
        }
    }
    entry
}

fn target(args: &CheckArgs, read: &mut Read) -> Result<(), Error> {
    let named = read.launch.settings.target.clone();
    if let Some(path) = &args.config {
        let id = id_of(named.as_deref().unwrap_or("target"), "target");
        let (model, file) = resolve::of_config(path, &id, None)?;
        let search = std::mem::take(&mut read.search);
        read.search = search.with(Kind::Models, &id, file);
        let shown = path.display();
        read.assumed.push(format!("the target's shape is that of {shown}; for other commands: specplan import hf {shown} --name {id} --out models"));
        read.means.target = Some(id);
        read.means.weights = Some(model.formats.weights().to_string());
        read.target = Some(model);
        return Ok(());
    }
    let Some(written) = named else {
        let what = "the command names no target".to_owned();
        read.missing.push((what, "write the model that is served into it, or give its --config".to_owned()));
        return Ok(());
    };
    let is_open = read.launch.open.iter().any(|open| written.contains(open.as_str()));
    let found = if is_open {
        Found { written: written.clone(), entry: None, note: None }
    } else {
        resolve::model(&read.search, &written, resolve::is_target)
    };
    read.assumed.extend(found.note);
    read.means.target = Some(found.entry.as_ref().map_or(found.written, |model| model.id.clone()));
    match &found.entry {
        Some(model) => read.means.weights = Some(model.formats.weights().to_string()),
        None => {
            let what = if is_open {
                format!("the target is {written}, which nothing in the command sets")
            } else {
                format!("the catalog has no model called \"{written}\"")
            };
            let hint = "give its --config config.json, as it lies beside the checkpoint; specplan catalog list models names what is known";
            read.missing.push((what, hint.to_owned()));
            read.means.unresolved.push(written);
        }
    }
    read.target = found.entry;
    Ok(())
}

/// An id from a checkpoint's name.
fn id_of(written: &str, otherwise: &str) -> String {
    let base = written.trim_end_matches('/').rsplit('/').next().unwrap_or(written).to_lowercase();
    if is_id(&base) && !base.ends_with(".toml") { base } else { otherwise.to_owned() }
}

fn drafter(args: &CheckArgs, read: &mut Read) -> Result<(), Error> {
    let (drafting, named) = (read.launch.settings.drafting, read.launch.settings.drafter.clone());
    let kind = match drafting {
        Drafting::Of(kind, _) => kind,
        Drafting::Nothing => return Ok(()),
        Drafting::Unsaid | Drafting::Other(_) => {
            let what = match drafting {
                Drafting::Other(word) => format!("drafts of {word} have no price here"),
                _ => "what drafts is not said, or not known here".to_owned(),
            };
            read.missing
                .push((what, "name the method and the drafter; --print-scenario shows what was read".to_owned()));
            read.means.unresolved.extend(named);
            return Ok(());
        }
    };
    if let Some(path) = &args.draft_config {
        let id = id_of(named.as_deref().unwrap_or("drafter"), "drafter");
        let target = read.target.clone().filter(|_| kind != DrafterKind::Model);
        let (_, file) = resolve::of_config(path, &id, target.as_ref())?;
        let search = std::mem::take(&mut read.search);
        read.search = search.with(Kind::Models, &id, file);
        read.means.drafter = Some(id);
        return Ok(());
    }
    let Some(written) = named else { return Ok(()) };
    let own = read.target.clone();
    let is_of = |head: HeadKind| match (drafting, head) {
        (Drafting::Of(DrafterKind::Eagle, version), HeadKind::Eagle1) => version != Some(3),
        (Drafting::Of(DrafterKind::Eagle, version), HeadKind::Eagle3) => version == Some(3),
        (Drafting::Of(DrafterKind::Medusa, _), HeadKind::Medusa)
        | (Drafting::Of(DrafterKind::Mtp, _), HeadKind::Mtp)
        | (Drafting::Of(DrafterKind::Block, _), HeadKind::Block) => true,
        _ => false,
    };
    let fits = |model: &Model| match (kind, model.head_kind()) {
        (DrafterKind::Model, None) => true,
        (_, Some(head)) => is_of(head) && own.as_ref().is_some_and(|target| model.fits.contains(&target.id)),
        _ => false,
    };
    let found = resolve::model(&read.search, &written, fits);
    read.assumed.extend(found.note);
    read.means.drafter = found.entry.map(|model| model.id);
    if read.means.drafter.is_none() {
        read.means.unresolved.push(written.clone());
        if kind == DrafterKind::Model {
            let hint = "give its --draft-config config.json".to_owned();
            read.missing.push((format!("the catalog has no draft model called \"{written}\""), hint));
        } else {
            read.assumed.push(format!("{written} is not in the catalog: its shape is derived from the target's"));
        }
    }
    Ok(())
}

/// Of a share of what weights leave free follows the share of all.
fn memory(read: &mut Read, device: Option<&Device>) {
    let (Some(fraction), Some(target)) = (read.launch.further.free_memory_fraction, &read.target) else { return };
    let Some(capacity) = device.and_then(|device| device.capacity().ok()) else { return };
    let devices = read.launch.settings.tensor_parallel.unwrap_or(1) as f64;
    let quantised = read.launch.settings.target_quantization.as_deref().map(|of| formats(of, false).0);
    let word = quantised.as_ref().and_then(Value::as_str).filter(|word| read.means.weights.as_deref() != Some(word));
    let dtype = Dtype::ALL.iter().find(|dtype| Some(dtype.as_str()) == word);
    let bytes = dtype.map_or_else(|| target.weight_bytes_held(), |dtype| target.weight_bytes_in(Format::usual(*dtype)));
    let weights = bytes.get() / devices / capacity.get();
    let share: f64 = weights + fraction * f64::max(1.0 - weights, 0.0);
    read.means.utilization = Some((share * 1000.0).round() / 1000.0).filter(|share| (0.01..=1.0).contains(share));
    read.assumed
        .push(format!("{fraction} of the memory that weights leave free comes to {:.0} % of all", 100.0 * share));
}

/// Whether there are as many accelerators as the command takes.
fn devices(read: &mut Read) {
    let of = &read.launch.settings;
    let apart = read.launch.server == Server::Vllm;
    let groups = if apart { of.data_parallel.unwrap_or(1) } else { 1 };
    if apart && groups > 1 && of.expert_parallel.is_none() {
        read.assumed.push(format!("{groups} replicas, each priced alone: --load counts the sequences of one of them"));
    }
    let needed = of.tensor_parallel.unwrap_or(1) * of.pipeline_parallel.unwrap_or(1) * groups;
    if let Some(count) = read.count.filter(|count| *count != needed) {
        let what = if count < needed { "more than there are" } else { "the others stand idle, or serve replicas" };
        read.assumed.push(format!("the command takes {needed} accelerators of {count}: {what}"));
    }
    if of.tensor_parallel.is_none()
        && read.count.is_some_and(|count| count > 1)
        && read.launch.server == Server::LlamaCpp
    {
        read.assumed.push(
            "llama.cpp spreads layers over all accelerators: priced as one that holds them all in turn".to_owned(),
        );
    }
}
