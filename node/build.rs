//! Links the addon as Node expects it.

fn main() {
    napi_build::setup();
}
