//! `shape.tree` into a [`TreeShape`].

use crate::catalog::node::{Node, Value};
use crate::catalog::reader::{Fields, Keys, Problems, lists, one_or_many};
use crate::catalog::values::integer;
use crate::diagnostic::Diagnostic;
use crate::domain::shape::{Sizes, TreeShape};
use crate::domain::tree::{NotATree, Tree};

/// Draft passes and candidates of a tree that is given by its sizes: many times what engines run.
const MOST_STEPS: u64 = 256;
const MOST_CANDIDATES: u64 = 64;

/// `{ tree = { steps, topk, nodes } }`, or by `parents` or `paths`.
pub(super) fn tree(node: &Node, problems: &mut Problems) -> Option<TreeShape> {
    let mut fields = Fields::open(node, &Keys::all(&["tree"]), problems)?;
    fields.required("tree", |node, problems| {
        let keys = Keys::all(&["steps", "topk", "nodes", "parents", "paths"]);
        let fields = Fields::open(node, &keys, problems)?;
        match (fields.has("parents"), fields.has("paths")) {
            (false, false) => sized(fields, node),
            (true, false) if node.entries().is_some_and(|entries| entries.len() == 1) => parents(node, problems),
            (false, true) if node.entries().is_some_and(|entries| entries.len() == 1) => paths(node, problems),
            _ => {
                let message = format!("`{}` is given in more than one way", node.path);
                let hint = "keep steps, topk and nodes; or parents; or paths";
                problems.report(Diagnostic::error("conflict", message).at(&node.place).hint(hint))
            }
        }
    })
}

fn sized(mut fields: Fields<'_, '_>, node: &Node) -> Option<TreeShape> {
    let mut number = |key: &str, most: u64| fields.required(key, |node, problems| integer(node, problems, 1, most));
    let (steps, topk, nodes) =
        (number("steps", MOST_STEPS), number("topk", MOST_CANDIDATES), number("nodes", Tree::MOST_NODES as u64));
    match Sizes::new(steps?, topk?, nodes?) {
        Ok(sizes) => Some(TreeShape::Sized(sizes)),
        Err(error) => {
            let found = Diagnostic::error("conflict", format!("`{}`: {error}", node.path)).at(&node.place);
            fields.problems.report(found.hint("SGLang's num-steps, eagle-topk and num-draft-tokens"))
        }
    }
}

/// The parent of each node below the root; a leading -1 stands for the root itself.
fn parents(node: &Node, problems: &mut Problems) -> Option<TreeShape> {
    let list = node.get("parents")?;
    let is_root = |first: &Node| matches!(first.value, Value::Integer(-1));
    let with_root = matches!(&list.value, Value::List(items) if items.first().is_some_and(is_root));
    let mut at = 0;
    let parent = |node: &Node, problems: &mut Problems| {
        at += 1;
        if with_root && at == 1 { Some(0) } else { integer(node, problems, 0, Tree::MOST_NODES as u64) }
    };
    let all = one_or_many(list, problems, parent)?;
    let below: Vec<usize> = all.into_iter().skip(usize::from(with_root)).map(|parent| parent as usize).collect();
    const HINT: &str =
        "one number for each draft: 0 for the last emitted token, else the draft it follows, counted from 1";
    drafting(Tree::new(&below), list, HINT, problems)
}

/// The path to each draft by ranks from 0, as Medusa lists its choices.
fn paths(node: &Node, problems: &mut Problems) -> Option<TreeShape> {
    let list = node.get("paths")?;
    let rank = |node: &Node, problems: &mut Problems| integer(node, problems, 0, Tree::MOST_NODES as u64);
    let path = |node: &Node, problems: &mut Problems| one_or_many(node, problems, rank);
    let all = lists(list, problems, "a path, such as [0, 1]", path)?;
    let paths: Vec<Vec<usize>> =
        all.into_iter().map(|path| path.into_iter().map(|rank| rank as usize).collect()).collect();
    const HINT: &str = "such as [[0], [1], [0, 0]]: ranks from 0, and every path's beginning is a path too";
    drafting(Tree::of_paths(&paths), list, HINT, problems)
}

/// A tree that drafts something.
fn drafting(
    made: Result<Tree, NotATree>,
    node: &Node,
    hint: &'static str,
    problems: &mut Problems,
) -> Option<TreeShape> {
    let message = match made {
        Ok(tree) if tree.nodes() > 1 => return Some(TreeShape::Drawn(tree)),
        Ok(_) => format!("`{}` drafts nothing", node.path),
        Err(error) => format!("`{}`: {error}", node.path),
    };
    problems.report(Diagnostic::error("conflict", message).at(&node.place).hint(hint))
}
