//! Number formats: bytes of a value with the scales that go with it.

use crate::words::{Dtype, Part, Word};

/// A number format with the bytes of one value, scales included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Format {
    dtype: Dtype,
    bytes: f64,
    scale: Option<Scale>,
}

/// A scale for each of so many values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    /// Values that share one.
    pub group: u64,
    /// Its own bytes.
    pub bytes: u64,
}

/// No group, or one of nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a scale has 1 to 4 bytes for a group of at least 1 value, and only 4-bit formats have one")]
pub struct NoScale;

impl Format {
    /// A format with its usual scales.
    ///
    /// # Formula
    ///
    /// ```text
    /// fp32, tf32 4 bytes;  bf16, fp16 2;  fp8, int8 1 (a scale for each matrix or channel is left out)
    /// fp4    1/2 + 1/16    one byte for each 16 values (NVFP4)
    /// mxfp4  1/2 + 1/32    one byte for each 32 values (OCP microscaling)
    /// int4   1/2 + 2/128   two bytes for each 128 values (GPTQ and AWQ, without zero points)
    /// ```
    ///
    /// # Examples
    ///
    /// ```
    /// use specplan::{domain::formats::Format, words::Dtype};
    /// assert_eq!(Format::usual(Dtype::Mxfp4).bytes(), 0.53125);
    /// assert_eq!(Format::usual(Dtype::Fp4).bytes(), 0.5625);
    /// ```
    #[must_use]
    pub const fn usual(dtype: Dtype) -> Self {
        let bytes = match dtype {
            Dtype::Fp32 | Dtype::Tf32 => 4.0,
            Dtype::Bf16 | Dtype::Fp16 => 2.0,
            Dtype::Fp8 | Dtype::Int8 => 1.0,
            Dtype::Fp4 => 0.5 + 1.0 / 16.0,
            Dtype::Mxfp4 => 0.5 + 1.0 / 32.0,
            Dtype::Int4 => 0.5 + 2.0 / 128.0,
        };
        Self { dtype, bytes, scale: None }
    }

    /// A 4-bit format with scales of one's own.
    ///
    /// # Errors
    ///
    /// [`NoScale`] for another format, an empty group, or a scale of more than 4 bytes.
    pub fn scaled(dtype: Dtype, scale: Scale) -> Result<Self, NoScale> {
        let four_bits = matches!(dtype, Dtype::Fp4 | Dtype::Int4);
        if !four_bits || scale.group == 0 || !(1..=4).contains(&scale.bytes) {
            return Err(NoScale);
        }
        Ok(Self { dtype, bytes: 0.5 + scale.bytes as f64 / scale.group as f64, scale: Some(scale) })
    }

    /// Its word.
    #[must_use]
    pub const fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// Bytes of one value.
    #[must_use]
    pub const fn bytes(&self) -> f64 {
        self.bytes
    }

    /// Its scales, where they are stated and not the usual ones.
    #[must_use]
    pub const fn scale(&self) -> Option<Scale> {
        self.scale
    }
}

impl std::fmt::Display for Formats {
    /// Weights, those of parts that have others, activations and KV cache.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "weights {}", self.default.dtype)?;
        for (part, format) in self.other_parts() {
            write!(f, ", {part} {}", format.dtype)?;
        }
        write!(f, ", activations {}, kv {}", self.activations, self.kv.dtype)
    }
}

/// The number formats of a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Formats {
    default: Format,
    parts: [Option<Format>; Part::COUNT],
    /// Selects the peak: what products are computed in, also of weights in narrower formats.
    pub activations: Dtype,
    kv: Format,
}

impl Formats {
    /// One format for all weights.
    #[must_use]
    pub const fn new(weights: Dtype, activations: Dtype, kv: Dtype) -> Self {
        Self { default: Format::usual(weights), parts: [None; Part::COUNT], activations, kv: Format::usual(kv) }
    }

    /// The same with other weights: a default, and what some parts have in its place.
    #[must_use]
    pub const fn with_weights(self, default: Format, parts: [Option<Format>; Part::COUNT]) -> Self {
        Self { default, parts, ..self }
    }

    /// The same with another KV cache.
    #[must_use]
    pub const fn with_kv(self, kv: Format) -> Self {
        Self { kv, ..self }
    }

    /// The same with a stated mean of bytes for each weight of whatever part, as a quantised file has it.
    #[must_use]
    pub const fn with_weight_bytes(self, bytes: f64) -> Self {
        let default = Format { dtype: self.default.dtype, bytes, scale: None };
        Self { default, parts: [None; Part::COUNT], ..self }
    }

    /// The format of weights that no part has another one for.
    #[must_use]
    pub const fn weights(&self) -> Dtype {
        self.default.dtype
    }

    /// The same with its bytes.
    #[must_use]
    pub const fn default_format(&self) -> Format {
        self.default
    }

    /// Bytes of such a weight.
    #[must_use]
    pub const fn weight_bytes(&self) -> f64 {
        self.default.bytes
    }

    /// The format of a part's weights.
    #[must_use]
    pub fn part(&self, part: Part) -> Format {
        self.parts[part as usize].unwrap_or(self.default)
    }

    /// Parts whose format is not the default.
    pub fn other_parts(&self) -> impl Iterator<Item = (Part, Format)> {
        Part::ALL.iter().zip(self.parts).filter_map(|(part, format)| Some((*part, format?)))
    }

    /// The format of the KV cache. For an aggregate a label only: its bytes are stated.
    #[must_use]
    pub const fn kv(&self) -> Dtype {
        self.kv.dtype
    }

    /// Bytes of one value of the KV cache.
    #[must_use]
    pub const fn kv_bytes(&self) -> f64 {
        self.kv.bytes
    }
}
