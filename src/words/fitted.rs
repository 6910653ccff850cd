//! What a fit to measured speedups may move.

use super::Word;

words!(
    /// A constant of the additive form, or a term that is tried beside it.
    Fitted {
        /// The engine's time for a step.
        Step = "t_step",
        /// The engine's time for a draft pass.
        Draft = "t_draft",
        /// The engine's time for a round.
        Round = "t_round",
        /// The engine's time for each sequence of a round.
        Sequence = "t_sequence",
        /// Routing kernels of a layer of experts.
        MoeLayer = "t_moe_layer",
        /// How independently tokens of one sequence are routed.
        RoutingIndependence = "routing_independence",
        /// The start of an all-reduce.
        AllReduce = "t_all_reduce",
        /// Of what n-gram drafters propose, the share that is accepted.
        AcceptedPerProposed = "accepted_per_proposed",
        /// The least time of a layer, where launches set it.
        LayerFloor = "t_layer_floor",
        /// Quantised weights: on the compute efficiency.
        QuantisedCompute = "quantised_compute",
        /// Quantised weights: on the bandwidth efficiency.
        QuantisedBandwidth = "quantised_bandwidth",
        /// Share of the bandwidth when weights are read.
        Bandwidth = "eta_bandwidth",
        /// Share of the dense peak.
        Compute = "eta_compute",
        /// Share of the bandwidth when the KV cache is read.
        KvBandwidth = "eta_kv",
        /// Tried: what a draft pass of a tree takes beyond that of a chain.
        TreePass = "t_draft_tree",
        /// Tried: what a draft pass on several devices takes beyond that on one.
        SharedPass = "t_draft_shared",
        /// What a round takes for each device beyond the first.
        FurtherDevice = "t_round_device",
        /// Tried: the share of prefill that decoding waits for in closed-loop traffic.
        PrefillShare = "prefill_share",
        /// Distinct tokens of a sequence grow as its width to this power.
        RoutingPower = "routing_power",
    }
);
