//! Tells cargo that the embedded catalog changes when a file is added to one of its folders.

fn main() {
    for folder in ["hardware", "models", "engines", "scenarios"] {
        println!("cargo:rerun-if-changed={folder}");
    }
}
