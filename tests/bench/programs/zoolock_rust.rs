//! The uncontended cycle in Rust: `bench-rust async|blocking HOSTS LOCK_PATH`.

use std::error::Error;

mod block;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["async", hosts, path] => asynchronous(hosts, path),
        ["blocking", hosts, path] => blocking(hosts, path),
        _ => Err("usage: bench-rust async|blocking HOSTS LOCK_PATH".into()),
    }
}

fn asynchronous(hosts: &str, path: &str) -> Result<(), Box<dyn Error>> {
    let executor = tokio::runtime::Builder::new_current_thread().build()?;
    let session = executor.block_on(zoolock::Session::connect(hosts))?;
    let mutex = session.mutex(path)?;
    block::serve(|| {
        executor.block_on(async {
            let guard = mutex.lock().await?;
            let token = guard.fencing_token();
            guard.release().await?;
            Ok(token)
        })
    })?;
    executor.block_on(session.close())?;
    Ok(())
}

fn blocking(hosts: &str, path: &str) -> Result<(), Box<dyn Error>> {
    let session = zoolock::blocking::Session::connect(hosts)?;
    let mutex = session.mutex(path)?;
    block::serve(|| {
        let guard = mutex.lock()?;
        let token = guard.fencing_token();
        guard.release()?;
        Ok(token)
    })?;
    session.close()?;
    Ok(())
}
