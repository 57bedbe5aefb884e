//! Questions on standard input, one per line; answers on standard output: what the module answers in a page, computed here.

use std::io::Read as _;

fn main() -> std::io::Result<()> {
    let mut lines = String::new();
    std::io::stdin().read_to_string(&mut lines)?;
    print!("{}", gough_wasm::answers(&lines));
    Ok(())
}
