//! A model: how many parameters it has and how many bytes a token's KV takes, counted here only.

use crate::units::Bytes;
use crate::words::{Dtype, Role};

/// A target, a drafter or a head.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The catalog id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What it is for.
    pub role: Role,
    /// Size of the vocabulary, where known.
    pub vocab: Option<u64>,
    /// What is counted.
    pub shape: Shape,
    /// Number formats.
    pub formats: Formats,
    /// Where the figures are from.
    pub source: Option<String>,
}

/// What the counts of a model are made from.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Totals without layers.
    Aggregate(Aggregate),
}

/// A model known by its totals: enough for the founding formula, not for operators.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aggregate {
    matmul_params: f64,
    total_params: f64,
    kv_bytes_per_token: f64,
}

/// Why totals cannot be those of a model.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum AggregateError {
    /// A count is negative, not finite, or zero where it cannot be.
    #[error("counts are finite and not negative, and some parameters are multiplied")]
    NotACount,
    /// More parameters are multiplied than exist.
    #[error("matmul_params ({matmul}) exceeds total_params ({total})")]
    MoreUsedThanHeld {
        /// Parameters that a pass multiplies.
        matmul: f64,
        /// Parameters in memory.
        total: f64,
    },
}

impl Aggregate {
    /// Totals that agree with each other.
    ///
    /// # Errors
    ///
    /// [`AggregateError`] if a count is negative or not finite, no parameter is multiplied, or more are
    /// multiplied than held.
    pub fn new(matmul_params: f64, total_params: f64, kv_bytes_per_token: f64) -> Result<Self, AggregateError> {
        let counts = [matmul_params, total_params, kv_bytes_per_token];
        if counts.iter().any(|count| !count.is_finite() || *count < 0.0) || matmul_params <= 0.0 {
            return Err(AggregateError::NotACount);
        }
        if matmul_params > total_params {
            return Err(AggregateError::MoreUsedThanHeld { matmul: matmul_params, total: total_params });
        }
        Ok(Self { matmul_params, total_params, kv_bytes_per_token })
    }
}

/// The number formats of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Formats {
    weights: WeightFormat,
    /// Selects the peak.
    pub activations: Dtype,
    /// Of the KV cache. For an aggregate a label only: its bytes are stated.
    pub kv: Dtype,
}

/// A weight format whose bytes for each parameter are known from its name alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct WeightFormat(Dtype);

/// A weight format that needs group scales to be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("weights in {0} carry scales that are not counted yet")]
pub struct UncountedFormat(pub Dtype);

impl Formats {
    /// Formats whose bytes can be counted.
    ///
    /// # Errors
    ///
    /// [`UncountedFormat`] for 4-bit weights.
    pub fn new(weights: Dtype, activations: Dtype, kv: Dtype) -> Result<Self, UncountedFormat> {
        match weights {
            Dtype::Fp4 | Dtype::Mxfp4 | Dtype::Int4 => Err(UncountedFormat(weights)),
            _ => Ok(Self { weights: WeightFormat(weights), activations, kv }),
        }
    }

    /// The format of the weights.
    #[must_use]
    pub const fn weights(&self) -> Dtype {
        self.weights.0
    }
}

impl WeightFormat {
    const fn bytes_per_parameter(self) -> f64 {
        match self.0 {
            Dtype::Fp32 | Dtype::Tf32 => 4.0,
            Dtype::Bf16 | Dtype::Fp16 => 2.0,
            Dtype::Fp8 | Dtype::Int8 | Dtype::Fp4 | Dtype::Mxfp4 | Dtype::Int4 => 1.0,
        }
    }
}

impl Model {
    /// Parameters that a pass multiplies with each token: without the input embedding, with the LM head.
    #[must_use]
    pub const fn matmul_params(&self) -> f64 {
        match &self.shape {
            Shape::Aggregate(totals) => totals.matmul_params,
        }
    }

    /// Parameters in memory, the input embedding included.
    #[must_use]
    pub const fn total_params(&self) -> f64 {
        match &self.shape {
            Shape::Aggregate(totals) => totals.total_params,
        }
    }

    /// Weight bytes that one pass reads: `matmul_params` times the bytes of the format.
    #[must_use]
    pub fn weight_bytes_read(&self) -> Bytes {
        Bytes::new(self.matmul_params() * self.formats.weights.bytes_per_parameter())
    }

    /// Weight bytes in memory: `total_params` times the bytes of the format.
    #[must_use]
    pub fn weight_bytes_held(&self) -> Bytes {
        Bytes::new(self.total_params() * self.formats.weights.bytes_per_parameter())
    }

    /// Bytes that one token of one sequence takes in the KV cache.
    #[must_use]
    pub const fn kv_bytes_per_token(&self) -> Bytes {
        match &self.shape {
            Shape::Aggregate(totals) => Bytes::new(totals.kv_bytes_per_token),
        }
    }
}
