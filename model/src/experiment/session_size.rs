//! The sizes of a session: how long each load lasts, and how often it is repeated.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// The sizes that a session uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SessionSize {
    /// The sizes in the experiment's file; with `--published`, those of a study.
    #[default]
    AsWritten,
    /// Short rounds until comparisons and the claims of a study are decided, about twelve minutes.
    Decided,
    /// The small sizes of `--quick`, for a first answer in about two minutes.
    Quick,
}

impl SessionSize {
    /// Whether runs, warm-ups and explaining windows are as short as they can be.
    #[must_use]
    pub const fn is_short(self) -> bool {
        !matches!(self, Self::AsWritten)
    }

    /// The name, where the sizes are not those of the file.
    #[must_use]
    pub const fn name(self) -> Option<&'static str> {
        match self {
            Self::AsWritten => None,
            Self::Decided => Some("decided"),
            Self::Quick => Some("quick"),
        }
    }
}

/// `true` stands for `--quick`.
impl From<bool> for SessionSize {
    fn from(is_quick: bool) -> Self {
        if is_quick { Self::Quick } else { Self::AsWritten }
    }
}

/// Reads a size; earlier results have `quick: true` or `false`.
pub(super) fn read<'d, D: Deserializer<'d>>(deserializer: D) -> Result<SessionSize, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Stored {
        IsQuick(bool),
        Size(SessionSize),
    }
    Ok(match Stored::deserialize(deserializer)? {
        Stored::IsQuick(is_quick) => is_quick.into(),
        Stored::Size(size) => size,
    })
}
