//! One of several equal shares of a sweep.

use crate::sweep::grid::Tile;

/// Share `index` of `count`, from 1 on, written `index/count`.
///
/// ```
/// use specplan::sweep::shard::Shard;
///
/// let shard: Shard = "3/12".parse().unwrap();
/// assert_eq!((shard.to_string(), shard.label()), ("3/12".to_owned(), "shard-03-of-12".to_owned()));
/// assert!("0/12".parse::<Shard>().is_err() && "13/12".parse::<Shard>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: u64,
    count: u64,
}

/// Why a share cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no share: give I/N, I from 1 to N and N up to {MOST}, such as 1/8 for the first of eight")]
pub struct NoShard(String);

/// More shares are a mistake.
const MOST: u64 = 1_000_000;

impl std::str::FromStr for Shard {
    type Err = NoShard;

    fn from_str(text: &str) -> Result<Self, NoShard> {
        let parts = text.split_once('/').and_then(|(index, count)| Some((index.parse().ok()?, count.parse().ok()?)));
        match parts {
            Some((index, count)) if 1 <= index && index <= count && count <= MOST => Ok(Self { index, count }),
            _ => Err(NoShard(text.to_owned())),
        }
    }
}

impl std::fmt::Display for Shard {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(to, "{}/{}", self.index, self.count)
    }
}

impl Shard {
    /// A name that sorts as the shares do.
    #[must_use]
    pub fn label(self) -> String {
        let width = self.count.to_string().len();
        format!("shard-{:0width$}-of-{}", self.index, self.count)
    }

    /// How many of so many points it has, but for a tile: `ceil(points / count)`.
    #[must_use]
    pub const fn points(self, all: u64) -> u64 {
        all.div_ceil(self.count)
    }

    /// Its tiles among those of a whole sweep of so many points: a run of them, so that the rows of all shares, one after the other,
    /// are those of the sweep. A tile is of the share in which its middle point lies, so that shares are equal but for a tile.
    ///
    /// # Formula
    ///
    /// ```text
    /// share = floor((2 points before the tile + points of the tile) count / (2 points)) + 1
    /// ```
    pub fn of(self, points: u64, tiles: impl Iterator<Item = Tile> + Send) -> impl Iterator<Item = Tile> + Send {
        let mut before: u128 = 0;
        let mut share = move |tile: &Tile| {
            let middle = 2 * before + u128::from(tile.rows());
            before += u128::from(tile.rows());
            (middle * u128::from(self.count) / (2 * u128::from(points.max(1)))) as u64 + 1
        };
        tiles.map(move |tile| (share(&tile), tile)).filter(move |(share, _)| *share == self.index).map(|(_, tile)| tile)
    }
}
