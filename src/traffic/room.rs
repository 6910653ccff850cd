//! What sequences take of the KV cache.

use crate::plan::setup::Setup;
use crate::units::Bytes;

/// The KV cache of a replica, in bytes of a device, and what a sequence of so many blocks takes of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Room {
    /// Bytes for all sequences.
    pub budget: f64,
    /// Tokens of a block.
    pub block: u32,
    /// Slots beyond the tokens that a sequence has: its next token, and drafts.
    pub ahead: u32,
    /// Bytes by blocks.
    by_blocks: Vec<f64>,
    /// Bytes of each block beyond.
    further: f64,
}

/// Blocks of which the bytes are tabled: windows of attention are shorter.
const TABLED: u32 = 1 << 14;

impl Room {
    /// Of a deployment that drafts up to `k` tokens; at 0 without its drafter.
    #[must_use]
    pub fn of(setup: &Setup<'_>, k: u64) -> Self {
        let ahead = if k == 0 { 1 } else { setup.verify_width(k) as u32 };
        let (budget, block) = setup.cache(k > 0);
        let drafted = u64::from(ahead) - 1;
        // A context of that many tokens less the slots ahead fills its blocks.
        let context = |blocks: u32| u64::from((blocks * block).saturating_sub(ahead));
        let shared = |blocks| (budget, setup.bytes_per_sequence(context(blocks), k > 0, drafted));
        let own = |blocks| setup.own_cache(context(blocks), drafted).filter(|_| k > 0);
        // A drafter on devices of its own may be what is full first.
        let share = |(budget, each): (Bytes, Bytes)| if each > Bytes::ZERO { each / budget } else { 0.0 };
        let is_own_tighter = own(TABLED).is_some_and(|own| own.0 <= Bytes::ZERO || share(own) > share(shared(TABLED)));
        let taken = |blocks: u32| if is_own_tighter { own(blocks) } else { None }.unwrap_or_else(|| shared(blocks));
        let bytes = |blocks: u32| taken(blocks).1.get();
        let by_blocks: Vec<f64> = (0..=TABLED).map(|blocks| if blocks == 0 { 0.0 } else { bytes(blocks) }).collect();
        let further = bytes(TABLED + 1) - bytes(TABLED);
        Self { budget: taken(TABLED).0.get(), block, ahead, further, by_blocks }
    }

    /// Room that never ends.
    #[must_use]
    pub fn endless() -> Self {
        Self { budget: f64::INFINITY, block: 16, ahead: 1, by_blocks: vec![0.0], further: 0.0 }
    }

    /// Room for so many tokens, in blocks.
    ///
    /// # Examples
    ///
    /// ```
    /// use specplan::traffic::room::Room;
    /// let room = Room::tokens(64, 16, 5);
    /// // 12 tokens and 5 slots are two blocks.
    /// assert_eq!((room.blocks(11), room.blocks(12), room.bytes(2)), (1, 2, 32.0));
    /// ```
    #[must_use]
    pub fn tokens(tokens: u32, block: u32, ahead: u32) -> Self {
        let further = f64::from(block);
        Self { budget: f64::from(tokens), block, ahead, by_blocks: vec![0.0], further }
    }

    /// Blocks of a sequence of so many tokens.
    #[must_use]
    pub const fn blocks(&self, tokens: u32) -> u32 {
        (tokens + self.ahead).div_ceil(self.block)
    }

    /// Bytes of so many blocks.
    #[must_use]
    pub fn bytes(&self, blocks: u32) -> f64 {
        let last = self.by_blocks.len() - 1;
        let at = (blocks as usize).min(last);
        self.by_blocks[at] + self.further * f64::from(blocks - at as u32)
    }
}
