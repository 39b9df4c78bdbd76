//! The arguments of `ensemble run`.

use std::str::FromStr;

use zoolock_ensemble::{Builder, Ensemble, Error, Result};

pub(crate) struct Run {
    pub(crate) builder: Builder,
    pub(crate) control_port: u16,
    pub(crate) ignore_stdin: bool,
}

pub(crate) fn parse(arguments: &[String]) -> Result<Run> {
    let mut builder = Ensemble::builder();
    let mut control_port = 0;
    let mut ignore_stdin = false;
    let mut words = arguments.iter();
    while let Some(option) = words.next() {
        let mut value = || {
            let value = words.next().map(String::as_str);
            value.ok_or_else(|| Error::new(format!("{option} needs a value")))
        };
        builder = match option.as_str() {
            "--servers" => builder.servers(number(option, value()?)?),
            "--version" => builder.version(value()?),
            "--tick-ms" => builder.tick_ms(number(option, value()?)?),
            "--init-limit" => builder.init_limit(number(option, value()?)?),
            "--sync-limit" => builder.sync_limit(number(option, value()?)?),
            "--min-session-timeout-ms" => builder.min_session_timeout_ms(number(option, value()?)?),
            "--max-session-timeout-ms" => builder.max_session_timeout_ms(number(option, value()?)?),
            "--heap-mb" => builder.heap_mb(number(option, value()?)?),
            "--fsync" => builder.fsync(true),
            "--no-proxy" => builder.proxied(false),
            "--snapshot" => {
                let (path, next) = pair(option, value()?)?;
                builder.snapshot([(path, number(option, next)?)])
            }
            "--line" => builder.line(value()?),
            "--property" => {
                let (name, value) = pair(option, value()?)?;
                builder.property(name, value)
            }
            "--control-port" => {
                control_port = number(option, value()?)?;
                builder
            }
            "--ignore-stdin" => {
                ignore_stdin = true;
                builder
            }
            other => return Err(Error::new(format!("unknown option {other}"))),
        };
    }
    Ok(Run {
        builder,
        control_port,
        ignore_stdin,
    })
}

fn number<T: FromStr>(option: &str, value: &str) -> Result<T> {
    value
        .parse()
        .map_err(|_| Error::new(format!("{option} cannot be `{value}`")))
}

fn pair<'a>(option: &str, value: &'a str) -> Result<(&'a str, &'a str)> {
    value
        .rsplit_once('=')
        .ok_or_else(|| Error::new(format!("{option} needs NAME=VALUE, not `{value}`")))
}
