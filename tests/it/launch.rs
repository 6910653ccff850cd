//! Launch commands that people published, into what they set.

use serde_json::Value;
use specplan::import::launch::launch;
use specplan::report::launch::settings;

const PUBLISHED: &str = include_str!("../fixtures/launch/published.jsonl");

fn published() -> impl Iterator<Item = Value> {
    PUBLISHED.lines().map(|line| serde_json::from_str(line).unwrap())
}

/// Every command, with its file of options, sets what a reader of it finds.
#[test]
fn published_commands_set_what_they_say() {
    let mut wrong = Vec::new();
    for row in published() {
        let text = |key: &str| row[key].as_str();
        let found = match launch(text("launch").unwrap(), text("options")) {
            Ok(found) => found,
            Err(error) => {
                wrong.push(format!("{}: {error}", row["id"]));
                continue;
            }
        };
        assert_eq!(Some(found.server.as_str()), text("server"), "{}", row["id"]);
        let got = settings(&found);
        for (name, due) in row["expect"].as_object().unwrap() {
            if got[name] != *due {
                wrong.push(format!("{} {name}: {}, not {due}", row["id"], got[name]));
            }
        }
        if !found.unknown.is_empty() {
            println!("{}: unknown {:?}", row["id"], found.unknown);
        }
        println!("{}: {:?} {:?}", row["id"], found.notes, found.open);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
