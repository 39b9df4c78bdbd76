use crate::config::SessionConfig;
use crate::link::Link;
use std::sync::Arc;
pub(crate) async fn run(_config: SessionConfig, _link: Arc<Link>) {}
