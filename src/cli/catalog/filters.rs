//! Which entries a list holds.

use crate::catalog::load::{Entry, entry};
use crate::catalog::lookup::SearchPath;
use crate::cli::args::ListArgs;
use crate::cli::catalog::resolve::resolve;
use crate::cli::error::Error;
use crate::domain::device::{Device, MissingCapacity};
use crate::domain::model::Model;
use crate::units::Bytes;
use crate::units::text::{QuantityError, parse};
use crate::words::{Kind, Role, Word};

/// What a list was asked for.
pub(super) struct Filters {
    /// Kinds that every filter applies to.
    pub(super) kinds: Vec<Kind>,
    vendor: Option<String>,
    role: Option<Role>,
    room: Option<Room>,
}

/// Bytes that weights may take, and what they were called.
struct Room {
    bytes: Bytes,
    said: String,
}

impl Filters {
    /// Filters that go together, with the kind asked for and with each other.
    pub(super) fn of(search: &SearchPath, asked: &ListArgs) -> Result<Self, Error> {
        let kinds = kinds(asked)?;
        let room = asked.fits.as_deref().map(|fits| room(search, fits)).transpose()?;
        Ok(Self { kinds, vendor: asked.vendor.clone(), role: asked.role, room })
    }

    /// The devices of the vendor asked for.
    pub(super) fn devices(&self, mut all: Vec<Device>) -> Result<Vec<Device>, Error> {
        let Some(vendor) = &self.vendor else { return Ok(all) };
        let mut known: Vec<String> = all.iter().filter_map(|device| device.vendor.clone()).collect();
        all.retain(|device| device.vendor.as_ref().is_some_and(|of| of.to_lowercase() == vendor.to_lowercase()));
        if all.is_empty() {
            known.sort_by_key(|known| known.to_lowercase());
            known.dedup();
            return Err(Error::Usage(format!("--vendor {vendor}: known vendors are {}", known.join(", "))));
        }
        Ok(all)
    }

    /// The models of the role and size asked for; none: why, and what would widen it.
    pub(super) fn models(&self, mut all: Vec<Model>) -> Result<Vec<Model>, String> {
        all.retain(|model| self.role.is_none_or(|role| model.role == role));
        let Some(room) = &self.room else {
            return if all.is_empty() { Err("none has this role: leave --role out".to_owned()) } else { Ok(all) };
        };
        let (fitting, larger): (Vec<Model>, Vec<Model>) =
            all.into_iter().partition(|model| model.weight_bytes_held() <= room.bytes);
        let bytes = |model: &Model| model.weight_bytes_held().get();
        match larger.iter().min_by(|a, b| bytes(a).total_cmp(&bytes(b))) {
            Some(least) if fitting.is_empty() => {
                let other = self.role.map_or("", |_| ", or leave --role out");
                let held = least.weight_bytes_held();
                Err(format!("none: the smallest, {}, has {held} of weights; give --fits more{other}", least.id))
            }
            _ => Ok(fitting),
        }
    }

    /// What a heading says after a kind.
    pub(super) fn heading(&self, kind: Kind) -> String {
        match (kind, &self.room) {
            (Kind::Hardware, _) => ", by vendor".to_owned(),
            (Kind::Models, Some(room)) => format!(
                " whose weights, as released, take at most {}; KV cache and activations are not counted",
                room.said
            ),
            _ => String::new(),
        }
    }
}

/// The kinds that a list holds: every filter must apply to each.
fn kinds(asked: &ListArgs) -> Result<Vec<Kind>, Error> {
    let filters = [
        ("--vendor", asked.vendor.is_some(), Kind::Hardware),
        ("--role", asked.role.is_some(), Kind::Models),
        ("--fits", asked.fits.is_some(), Kind::Models),
    ];
    let given: Vec<(&str, Kind)> =
        filters.into_iter().filter_map(|(flag, given, kind)| given.then_some((flag, kind))).collect();
    let Some((flag, kind)) = given.first().copied() else {
        return Ok(asked.kind.map_or_else(|| Kind::ALL.to_vec(), |kind| vec![kind]));
    };
    if let Some((other, of)) = given.iter().find(|(_, of)| *of != kind) {
        let message = format!("{flag} is for {kind}, {other} for {of}: ask for one of the two at a time");
        return Err(Error::Usage(message));
    }
    match asked.kind {
        Some(other) if other != kind => {
            let message = format!("{flag} is for {kind}, not for {other}: leave it out, or list {kind}");
            Err(Error::Usage(message))
        }
        _ => Ok(vec![kind]),
    }
}

/// Bytes as they are written, else the memory of a device.
fn room(search: &SearchPath, fits: &str) -> Result<Room, Error> {
    let example = "give bytes such as 80GB or \"80 GiB\", or hardware such as h100-sxm5-80gb";
    let wrong = |error: &dyn std::fmt::Display| Error::Usage(format!("--fits {fits}: {error}; {example}"));
    match parse::<Bytes>(fits) {
        Ok(bytes) if bytes > Bytes::ZERO && bytes.get().is_finite() => Ok(Room { bytes, said: bytes.to_string() }),
        Ok(_) => Err(wrong(&"no memory has so many or so few bytes")),
        Err(QuantityError::NoNumber { .. }) => memory(search, fits),
        // `4090` may be a name too.
        Err(error) => memory(search, fits).map_err(|_| wrong(&error)),
    }
}

fn memory(search: &SearchPath, name: &str) -> Result<Room, Error> {
    let (id, _) = resolve(search, name, &[Kind::Hardware])?;
    match entry(search, Kind::Hardware, &id).map_err(Error::Input)? {
        (Entry::Device(device), _) => {
            let untold =
                |error: MissingCapacity| Error::Usage(format!("--fits {name}: {error}; give bytes, such as 80GB"));
            let bytes = device.capacity().map_err(untold)?;
            Ok(Room { bytes, said: format!("{bytes}, the memory of {id}") })
        }
        _ => Err(Error::Internal(format!("{id} is no hardware"))),
    }
}
