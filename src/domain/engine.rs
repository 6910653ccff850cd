//! The engine a scenario is priced for.

/// An engine profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Engine {
    /// The catalog id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What it adds to the roofline.
    pub profile: Profile,
}

/// What an engine adds to the roofline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Nothing: full datasheet peaks, no overheads.
    Ideal,
}
