//! The founding study's exercises, with answers by hand.

use serde_json::Value;

use crate::program::{folder, run_well};

fn rows(scenario: &str) -> Vec<Value> {
    let folder = folder();
    let all = ["sweep", "--scenario", scenario, "--write", "none", "--format", "json", "--quiet"];
    let document: Value = serde_json::from_str(&run_well(folder.path(), &all).stdout).unwrap();
    document["rows"].as_array().unwrap().clone()
}

fn number(row: &Value, column: &str) -> f64 {
    row[column].as_f64().unwrap()
}

/// KV: 2048 x 131072 B at 3.35e12 B/s, 80.1 us; a token: 2 x 7.5e9 FLOP at 989e12 FLOP/s, 15.2 us. For
/// large batches a round of a free drafter costs `15.2 (k + 1) / 80.1` plain steps: 1.89 at k = 9, below
/// its 1.998 tokens; 2.08 at k = 10, above 1.999.
#[test]
fn a_free_drafter_pays_at_every_batch_up_to_nine_drafts() {
    let rows = rows("founding-exercise-2");
    let speedups = |least: u64, most: u64| {
        let within = move |row: &&Value| (least..=most).contains(&row["k"].as_u64().unwrap());
        rows.iter().filter(within).map(|row| number(row, "speedup"))
    };
    assert_eq!(speedups(1, 9).count(), 5 * 13);
    assert!(speedups(1, 9).all(|speedup| speedup > 1.0));
    for k in [10, 12, 16] {
        assert!(speedups(k, k).any(|speedup| speedup < 1.0), "k = {k}");
    }
    let limit = 1.998_046_875 * (2048.0 * 131_072.0 / 3.35e12) / (10.0 * 15e9 / 989e12);
    let largest = rows.iter().filter(|row| row["batch"] == 4096 && row["k"] == 9).map(|row| number(row, "speedup"));
    // 15.01 GB of weights are 1.4 % of the bytes read at batch 4096.
    assert!(largest.map(|speedup| (speedup / limit - 1.0).abs()).all(|off| off < 0.02));
}

/// At batch 1 verification costs one plain step at any of these k, so the speedup is `E_k / (1 + c k)`, and
/// the k-th draft pays exactly while `alpha^k` exceeds c times the speedup before it.
#[test]
fn one_more_draft_pays_while_its_chance_exceeds_cost_times_speedup() {
    let rows = rows("founding-exercise-3");
    for line in rows.chunks(12) {
        let cost = number(&line[0], "draft_s") / number(&line[0], "base_step_s");
        let alpha = number(&line[0], "alpha");
        let speedups: Vec<f64> = line.iter().map(|row| number(row, "speedup")).collect();
        for (at, pair) in speedups.windows(2).enumerate() {
            let k = at as i32 + 2;
            assert_eq!(pair[1] > pair[0], alpha.powi(k) > cost * pair[0], "alpha {alpha}, k {k}");
        }
    }
    assert_eq!(rows.len(), 120);
}
