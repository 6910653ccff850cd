//! Trees of drafts: nodes below the last emitted token.

/// A tree of drafts. Node 0 is the root, the last emitted token; a node's rank counts it among its siblings, from 1.
///
/// # Examples
///
/// Two candidates for the next token, and one after the first:
///
/// ```
/// use specplan::domain::tree::Tree;
/// let tree = Tree::new(&[0, 0, 1])?;
/// assert_eq!((tree.nodes(), tree.depth(), tree.widest_branching()), (4, 2, 2));
/// assert_eq!(tree.paths(), [vec![0], vec![1], vec![0, 0]]);
/// # Ok::<(), specplan::domain::tree::NotATree>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    parents: Vec<usize>,
    ranks: Vec<usize>,
    levels: Vec<usize>,
}

/// What makes no tree.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotATree {
    /// A parent that does not come before its child.
    #[error("node {node} hangs on node {parent}, which does not come before it: parents have smaller numbers")]
    Order {
        /// Counted from 1; the root is 0.
        node: usize,
        /// Its parent.
        parent: usize,
    },
    /// Two siblings of one rank, or a rank of 0.
    #[error("node {node} has rank {rank}: siblings have different ranks, from 1")]
    Rank {
        /// Counted from 1.
        node: usize,
        /// Its rank.
        rank: usize,
    },
    /// A list of ranks of another length.
    #[error("{ranks} ranks for {nodes} nodes")]
    Lengths {
        /// Ranks given.
        ranks: usize,
        /// Nodes below the root.
        nodes: usize,
    },
    /// A path whose beginning is no path.
    #[error("path {path:?} starts with one that is not listed")]
    Path {
        /// Ranks from 0.
        path: Vec<usize>,
    },
    /// A path that comes twice.
    #[error("path {path:?} is listed twice")]
    Twice {
        /// Ranks from 0.
        path: Vec<usize>,
    },
    /// More nodes than a verification would ever take.
    #[error("more than {} nodes", Tree::MOST_NODES)]
    TooMany,
}

impl Tree {
    /// The most nodes of a tree, the root included.
    pub const MOST_NODES: usize = 4096;

    /// A tree by the parent of each node below the root, in order; siblings are ranked as they come.
    ///
    /// # Errors
    ///
    /// [`NotATree::Order`] unless parents come before their children.
    pub fn new(parents: &[usize]) -> Result<Self, NotATree> {
        let mut children = vec![0; parents.len() + 1];
        let ranks: Vec<usize> = parents
            .iter()
            .map(|&parent| {
                children.get_mut(parent).map_or(1, |children| {
                    *children += 1;
                    *children
                })
            })
            .collect();
        Self::with_ranks(parents, &ranks)
    }

    /// A tree by the parent and the rank of each node below the root.
    ///
    /// # Errors
    ///
    /// [`NotATree`] unless parents come before their children and ranks of siblings differ.
    pub fn with_ranks(parents: &[usize], ranks: &[usize]) -> Result<Self, NotATree> {
        if ranks.len() != parents.len() {
            return Err(NotATree::Lengths { ranks: ranks.len(), nodes: parents.len() });
        }
        if parents.len() >= Self::MOST_NODES {
            return Err(NotATree::TooMany);
        }
        let mut levels = vec![0];
        let mut taken = std::collections::HashSet::new();
        for (at, (&parent, &rank)) in parents.iter().zip(ranks).enumerate() {
            let node = at + 1;
            if parent >= node {
                return Err(NotATree::Order { node, parent });
            }
            if rank == 0 || !taken.insert((parent, rank)) {
                return Err(NotATree::Rank { node, rank });
            }
            levels.push(levels[parent] + 1);
        }
        let root = |list: &[usize]| std::iter::once(0).chain(list.iter().copied()).collect();
        Ok(Self { parents: root(parents), ranks: root(ranks), levels })
    }

    /// A tree by the path to each node, as Medusa lists its choices: ranks from 0, the root's path left out.
    ///
    /// # Errors
    ///
    /// [`NotATree::Path`] where the beginning of a path is not listed; [`NotATree::Rank`] for a path given twice.
    pub fn of_paths(paths: &[Vec<usize>]) -> Result<Self, NotATree> {
        let mut sorted: Vec<&Vec<usize>> = paths.iter().collect();
        sorted.sort_by(|a, b| a.len().cmp(&b.len()).then(a.cmp(b)));
        let mut index = std::collections::HashMap::from([(Vec::new(), 0)]);
        let (mut parents, mut ranks) = (Vec::new(), Vec::new());
        for path in sorted {
            let missing = || NotATree::Path { path: path.clone() };
            let (last, before) = path.split_last().ok_or_else(missing)?;
            parents.push(*index.get(before).ok_or_else(missing)?);
            ranks.push(last.saturating_add(1));
            if index.insert(path.clone(), parents.len()).is_some() {
                return Err(NotATree::Twice { path: path.clone() });
            }
        }
        Self::with_ranks(&parents, &ranks)
    }

    /// A chain of k drafts.
    #[must_use]
    pub fn chain(k: usize) -> Self {
        let ranks = std::iter::once(0).chain(std::iter::repeat_n(1, k)).collect();
        Self { parents: (0..=k).map(|node| node.saturating_sub(1)).collect(), ranks, levels: (0..=k).collect() }
    }

    /// A tree in which every node above the last level has `branch` children.
    ///
    /// # Errors
    ///
    /// [`NotATree::TooMany`].
    pub fn full(branch: usize, depth: u32) -> Result<Self, NotATree> {
        let inner = (0..depth).try_fold(0_usize, |sum, level| sum.checked_add(branch.checked_pow(level)?));
        let below = inner.and_then(|inner| inner.checked_mul(branch)).filter(|below| *below < Self::MOST_NODES);
        let parents: Vec<usize> = (0..below.ok_or(NotATree::TooMany)?).map(|at| at / branch).collect();
        Self::new(&parents)
    }

    /// Chains beside each other that share the root only.
    ///
    /// # Errors
    ///
    /// [`NotATree::TooMany`].
    pub fn chains(chains: usize, length: usize) -> Result<Self, NotATree> {
        let below = chains.checked_mul(length).filter(|below| *below < Self::MOST_NODES).ok_or(NotATree::TooMany)?;
        let parents: Vec<usize> = (0..below).map(|at| (at + 1).saturating_sub(chains)).collect();
        Self::new(&parents)
    }

    /// Nodes, the root included: the width of a verification.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.parents.len()
    }

    /// Levels below the root: draft passes.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.levels.iter().copied().max().unwrap_or(0)
    }

    /// Each node's parent, rank and level; the root first, with rank 0.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
        self.parents.iter().zip(&self.ranks).zip(&self.levels).map(|((&parent, &rank), &level)| (parent, rank, level))
    }

    /// The largest rank: candidates that each draft pass has to give.
    #[must_use]
    pub fn widest_branching(&self) -> usize {
        self.ranks.iter().copied().max().unwrap_or(0)
    }

    /// Nodes with children, on each level from the root down: what each draft pass works on.
    #[must_use]
    pub fn expanded(&self) -> Vec<usize> {
        let mut is_parent = vec![false; self.nodes()];
        self.parents.iter().skip(1).for_each(|&parent| is_parent[parent] = true);
        let mut expanded = vec![0; self.depth()];
        for (level, _) in self.levels.iter().zip(is_parent).filter(|(_, is_parent)| *is_parent) {
            expanded[*level] += 1;
        }
        expanded
    }

    /// The path to each node below the root, ranks from 0, in the order of the nodes.
    #[must_use]
    pub fn paths(&self) -> Vec<Vec<usize>> {
        let mut paths: Vec<Vec<usize>> = vec![Vec::new()];
        for (parent, rank, _) in self.iter().skip(1) {
            let mut path = paths[parent].clone();
            path.push(rank - 1);
            paths.push(path);
        }
        paths.split_off(1)
    }
}
