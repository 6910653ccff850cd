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
use crate::report::launch_study::{Means, formats, groups};
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
    pub(super) fn limit_of_server(&self) -> Option<u64> {
        let of = &self.launch.settings;
        let drafts = matches!(of.drafting, Drafting::Of(..));
        match self.launch.server {
            _ if of.max_num_seqs.is_some() => None,
            Server::Sglang if drafts => Some((SGLANG_LIMIT / groups(&self.launch)).max(1)),
            // One slot, unless -np says otherwise.
            Server::LlamaCpp => Some(1),
            _ => None,
        }
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
            let of = self.launch.server;
            self.assumed.push(format!(
                "{of} runs no more than {limit} at once here unless the command says otherwise; plain decoding is priced with that limit too, though it may have none"
            ));
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
    let own = || profile(read.launch.server).to_owned();
    let given = args.engine.clone().map(|engine| match engine.contains('/') && args.print_scenario {
        // A scenario looks for files beside itself, wherever it is put.
        true => std::path::absolute(&engine).map_or(engine, |path| path.display().to_string()),
        false => engine,
    });
    read.means.engine = Some(given.unwrap_or_else(own));
    read.means.context = args.context;
    let device = hardware(args, &mut read);
    target(args, &mut read)?;
    drafter(args, &mut read)?;
    memory(&mut read, device.as_ref());
    devices(&mut read);
    unpriceable(&mut read);
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
        read.means.is_moe = model.is_moe();
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
    read.means.is_moe = found.entry.as_ref().is_some_and(Model::is_moe);
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
        let of_others = resolve::model(&read.search, &written, |model| model.head_kind().is_some_and(is_of)).entry;
        // A target from its own configuration may be one that the catalog knows under another id.
        let named = read.launch.settings.target.as_deref();
        let known = named.and_then(|named| resolve::model(&read.search, named, resolve::is_target).entry);
        let is_for = |head: &Model, target: &Model| {
            head.fits.contains(&target.id) || known.as_ref().is_some_and(|known| head.fits.contains(&known.id))
        };
        let other = of_others.zip(read.target.as_ref()).filter(|(head, target)| !is_for(head, target));
        if let Some((head, target)) = other.filter(|(head, _)| !head.fits.is_empty()) {
            let what = format!("{written} is a head for {}, and the target is {}", head.fits.join(" or "), target.id);
            read.missing.push((what, "name a head of this target".to_owned()));
        } else if kind == DrafterKind::Model {
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

/// Whether there are as many accelerators as the command takes, and who decodes together.
fn devices(read: &mut Read) {
    let of = &read.launch.settings;
    let (server, is_apart) = (read.launch.server, read.launch.further.is_attention_dp);
    let groups = groups(&read.launch);
    // SGLang and TensorRT-LLM attend apart on the same devices.
    let copies = if is_apart { 1 } else { groups };
    if groups > 1 {
        read.assumed.push(match is_apart || read.means.is_moe {
            true => format!("{groups} groups attend apart: a batch, and --load, count the sequences of one of them"),
            false => {
                format!("{groups} replicas, each priced alone: a batch, and --load, count the sequences of one of them")
            }
        });
    }
    let mode = read.launch.also.iter().find(|(name, _)| name == "split-mode").and_then(|(_, mode)| mode.as_str());
    let spreads = server == Server::LlamaCpp && of.tensor_parallel.is_none() && mode != Some("none");
    if let Some(count) = read.count.filter(|count| spreads && *count > 1) {
        read.means.stages = Some(count);
        read.assumed.push(format!("llama.cpp spreads the layers over {count} accelerators, one after the other"));
        return;
    }
    let needed = of.tensor_parallel.unwrap_or(1) * of.pipeline_parallel.unwrap_or(1) * copies;
    match read.count {
        Some(count) if count < needed => {
            let what = format!("the command takes {needed} accelerators, and there are {count}");
            read.missing.push((what, "give --gpu with as many, or fewer to the command".to_owned()));
        }
        Some(count) if count > needed => {
            read.assumed.push(format!(
                "the command takes {needed} accelerators of {count}: the others stand idle, or serve replicas"
            ));
        }
        _ => {}
    }
}

/// Settings that nobody can price.
fn unpriceable(read: &mut Read) {
    let said = |name: &str| read.launch.also.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
    let number = |value: serde_json::Value| value.as_u64().or_else(|| value.as_str()?.parse().ok());
    let layers = read.target.as_ref().map(Model::layers);
    let on_gpu = said("gpu-layers").or_else(|| said("n-gpu-layers")).and_then(number);
    if let (Some(some), Some(all)) = (on_gpu, layers)
        && (some as f64) < all
    {
        let what = format!("{some} of {all} layers are on the accelerator: those on the CPU have no price");
        read.missing.push((what, "put all of them there: -ngl 999".to_owned()));
    }
    if said("n-cpu-moe").and_then(number).is_some_and(|some| some > 0) {
        read.missing.push(("experts on the CPU have no price".to_owned(), "leave --n-cpu-moe out".to_owned()));
    }
    let wrong = read.launch.further.wrong_length.clone();
    read.missing.extend(wrong.map(|note| (note, "state the draft length".to_owned())));
    if matches!(read.launch.further.dtype.as_deref(), Some("float32" | "float" | "fp32")) {
        read.missing.push(("--dtype float32 has no price here".to_owned(), "serve in 16 bits".to_owned()));
    }
    let format = read.launch.settings.target_quantization.as_deref();
    if let Some(unknown) = format.filter(|format| formats(format, false).0.is_null() && !PLAIN.contains(format)) {
        read.assumed.push(format!("weights in {unknown} are not known here: those of the catalog's model are priced"));
    }
    let small = ["iq1", "iq2", "iq3", "q2", "q3", "tq"];
    if format.is_some_and(|format| small.iter().any(|small| format.trim_start_matches("ud-").starts_with(small))) {
        read.assumed.push("formats of fewer than 4 bits are priced as 4 bits".to_owned());
    }
    if let (Some(format), true) = (
        &read.launch.further.draft_quantization,
        matches!(read.launch.settings.drafting, Drafting::Of(kind, _) if kind != DrafterKind::Model),
    ) {
        read.assumed.push(format!("the head's format, {format}, is not priced: its weights count 16 bits"));
    }
}

/// Formats that are the model's own.
const PLAIN: [&str; 5] = ["bf16", "f16", "f32", "fp16", "auto"];
