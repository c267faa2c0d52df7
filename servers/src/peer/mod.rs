//! A peer: the same server in another language, as a folder with the executables `build` and `run`.

pub mod build;

use super::command::from_command_line;
use super::error::LaunchError;
use super::keys::{ARGS, CheckedKey, Keys, READY, WrittenServer, text};
use super::kind::ServerKind;
use super::launch_spec::{LOOPBACK, LaunchContext, LaunchSpec};
use threadcount_model::experiment::{PeerServer, Server};
use threadcount_model::parse::diagnostic::Diagnostic;
use threadcount_model::parse::value_kinds::Text;

impl ServerKind for PeerServer {
    fn keys() -> Keys {
        Keys {
            kind: CheckedKey::new::<Text>(
                "peer",
                "A server in another language: a folder of peers/, or a path.",
                text,
            ),
            plural: "peers",
            own: &[ARGS, READY],
            read,
        }
    }

    fn needs(&self) -> Option<(&'static str, &str)> {
        Some((Self::keys().kind.name(), &self.peer))
    }

    fn prepare(&self, _: &LaunchContext<'_>) -> Result<(), LaunchError> {
        build::build(&self.peer)?;
        Ok(())
    }

    fn launch_spec(&self, context: &LaunchContext<'_>) -> Result<LaunchSpec, LaunchError> {
        let Self { peer, args, ready } = self;
        let run = build::find(peer)?.join("run");
        let run = shlex::try_quote(&run.to_string_lossy()).map(|it| it.into_owned());
        let run = run.unwrap_or_else(|_| peer.clone());
        let spec = from_command_line(context, &format!("{run} {{port}} {args}"), LOOPBACK, ready)?;
        Ok(LaunchSpec { product: Some(peer.clone()), ..spec })
    }
}

fn read(written: &WrittenServer<'_>) -> Result<Server, Diagnostic> {
    written.refuse_threads("a peer")?;
    let args = written.text("args")?.unwrap_or_default();
    Ok(Server::Peer(PeerServer { peer: written.kind.to_owned(), args, ready: written.ready()? }))
}
