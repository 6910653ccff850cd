//! A tree in the forms that engines take.

use crate::domain::tree::Tree;

/// The tree as Medusa's code takes it: the path to each node by ranks from 0.
#[must_use]
pub fn medusa(tree: &Tree) -> String {
    let path = |path: &Vec<usize>| {
        let ranks: Vec<String> = path.iter().map(usize::to_string).collect();
        format!("[{}]", ranks.join(", "))
    };
    format!("[{}]", tree.paths().iter().map(path).collect::<Vec<_>>().join(", "))
}

/// The flags with which SGLang drafts a tree of this size. It picks the nodes itself in every round, by what its drafter
/// is sure of; `topk` is wide enough for every tree of this shape.
#[must_use]
pub fn sglang(tree: &Tree) -> String {
    format!(
        "--speculative-num-steps {} --speculative-eagle-topk {} --speculative-num-draft-tokens {}",
        tree.depth(),
        topk(tree),
        tree.nodes()
    )
}

/// Candidates of a draft pass that are wide enough for a tree: its widest branching, and the most nodes that have children on
/// one level.
pub(super) fn topk(tree: &Tree) -> usize {
    tree.expanded().into_iter().max().unwrap_or(0).max(tree.widest_branching())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_what_engines_take() {
        let tree = Tree::new(&[0, 0, 1, 1, 2]).unwrap();
        assert_eq!(medusa(&tree), "[[0], [1], [0, 0], [0, 1], [1, 0]]");
        assert_eq!(
            sglang(&tree),
            "--speculative-num-steps 2 --speculative-eagle-topk 2 --speculative-num-draft-tokens 6"
        );
    }
}
