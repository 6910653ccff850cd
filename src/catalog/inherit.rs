//! Engine files that build on others: `extends = "…"`.

use crate::catalog::node::{Entry, Node, Value};

/// The longest line of files that build on each other.
pub(super) const MOST_STEPS: usize = 8;

/// What a file says of itself alone: it does not pass to files that build on it.
const ITS_OWN: [&str; 7] = ["name", "note", "status", "versions", "error", "calibration", "extends"];

/// Two constants of which the second counts where both are there.
const SHARE: &str = "routing_independence";
const POWER: &str = "routing_power";

/// A file's tree over that of the one it builds on. Tables of constants and of families join key by key;
/// a constant is replaced whole, with its range and origin.
pub(super) fn over(base: Node, own: Node) -> Node {
    let Node { value: Value::Table(inherited), .. } = base else { return own };
    let inherited = inherited.into_iter().filter(|entry| !ITS_OWN.contains(&entry.key.as_str())).collect();
    merged(inherited, own)
}

fn merged(inherited: Vec<Entry>, own: Node) -> Node {
    let Node { value, place, path } = own;
    let Value::Table(entries) = value else { return Node { value, place, path } };
    let mut all = inherited;
    // Whoever states how tokens share experts states it instead.
    let is_stated = |name: &str| entries.iter().any(|entry| entry.key == name);
    if &*path == "constants" && is_stated(SHARE) && !is_stated(POWER) {
        all.retain(|entry| entry.key != POWER);
    }
    for entry in entries {
        match all.iter().position(|known| known.key == entry.key) {
            Some(at) => {
                let known = all.remove(at);
                let joins = matches!(entry.key.as_str(), "constants" | "family") || &*path == "family";
                let node = match known.node.value {
                    Value::Table(below) if joins => merged(below, entry.node),
                    _ => entry.node,
                };
                all.insert(at, Entry { node, ..entry });
            }
            None => all.push(entry),
        }
    }
    Node { value: Value::Table(all), place, path }
}
