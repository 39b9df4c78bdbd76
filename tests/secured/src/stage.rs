//! The servers and certificates that all cases share.

use std::path::PathBuf;
use std::thread;

use zoolock_ensemble::{
    Acl, Authority, Builder, ClientCertificate, Ensemble, Identity, Observer, Tls,
};

/// Credentials of the scheme `digest`, and what an access control list has of them.
#[derive(Clone, Copy, Debug)]
pub struct Digest {
    /// `user:password`.
    pub credentials: &'static str,
    /// `user:` and the hash of the credentials.
    pub id: &'static str,
}

/// Two users. Base64 and URL encoding change their passwords.
pub const ALICE: Digest = Digest {
    credentials: "alice:apple/6e1f+09c2=",
    id: "alice:d4qacMApmuKlOUrIJapewUD+zTs=",
};
pub const BOB: Digest = Digest {
    credentials: "bob:bread/77aa+01d9=",
    id: "bob:fYwWgGQEYImjlEbd03YribUIKts=",
};
/// To servers, the user above all others: it sees every list whole.
const ROOT: Digest = Digest {
    credentials: "root:rule-them-5512",
    id: "root:N7/WTWpJd4PLSJKsjxfAbfZxBKI=",
};

/// See the module.
pub struct Stage {
    /// Signs the servers and the clients.
    pub authority: Authority,
    /// Nobody trusts it.
    pub stranger: Authority,
    /// A client, `CN=carol`.
    pub carol: Identity,
    /// Another one, `CN=dave`.
    pub dave: Identity,
    /// A client whose certificate is of 2020.
    pub late: Identity,
    /// A client whom the stranger has signed.
    pub unknown: Identity,
    /// A key under a pass phrase.
    pub locked_key: PathBuf,
    /// Takes clients with certificates and without, on both ports.
    pub open: Ensemble,
    /// Demands certificates in the handshake of TLS, and the identity of one on every connection.
    pub strict: Ensemble,
    /// Its certificate is of 2020; on the plain port it demands `digest`.
    pub expired: Ensemble,
    /// Three servers.
    pub trio: Ensemble,
}

/// What a key under a pass phrase looks like; nobody gets as far as to open it.
const LOCKED_KEY: &str = "-----BEGIN ENCRYPTED PRIVATE KEY-----\n\
    TG9ja2VkIGtleSBvZiBub2JvZHkncyBjZXJ0aWZpY2F0ZSA0ZjJi\n\
    -----END ENCRYPTED PRIVATE KEY-----\n";

impl Stage {
    /// Issues the certificates and starts the servers.
    pub fn set() -> Result<Stage, String> {
        make().map_err(|error| error.to_string())
    }

    /// A client that is not zoolock's, and sees everything.
    pub fn observer(&self) -> Result<Observer, String> {
        let observer = self.open.observer(1).map_err(|error| error.to_string())?;
        observer
            .authenticate("digest", ROOT.credentials)
            .map_err(|error| error.to_string())?;
        Ok(observer)
    }
}

/// An access control list as text, in order: `31 digest alice:…;1 world anyone`.
pub fn text(acl: &[Acl]) -> String {
    let entry = |entry: &Acl| format!("{} {} {}", bits(entry), entry.scheme, entry.id);
    let mut entries: Vec<String> = acl.iter().map(entry).collect();
    entries.sort();
    entries.join(";")
}

fn bits(acl: &Acl) -> u32 {
    use zoolock_ensemble::Permission;
    let known = [
        (Permission::READ, 1),
        (Permission::WRITE, 2),
        (Permission::CREATE, 4),
        (Permission::DELETE, 8),
        (Permission::ADMIN, 16),
    ];
    let has = |permission: Permission| acl.perms.can(permission);
    known
        .into_iter()
        .filter(|(permission, _)| has(*permission))
        .map(|(_, bit)| bit)
        .sum()
}

fn make() -> zoolock_ensemble::Result<Stage> {
    let (authority, stranger) = (Authority::create()?, Authority::create()?);
    let server = authority.issue("server", "localhost")?;
    let old_server = authority.issue_expired("old-server", "localhost")?;
    let tls = |identity: &Identity, client_certificate| Tls {
        identity: identity.both.clone(),
        authorities: authority.ca(),
        client_certificate,
    };
    let root = |builder: Builder| {
        builder.property(
            "zookeeper.DigestAuthenticationProvider.superDigest",
            ROOT.id,
        )
    };
    let enforcing = |scheme: &str, builder: Builder| {
        builder
            .property("zookeeper.enforce.auth.enabled", "true")
            .property("zookeeper.enforce.auth.schemes", scheme)
    };
    let open = root(Ensemble::builder().tls(tls(&server, ClientCertificate::Wanted)));
    let strict = enforcing(
        "x509",
        Ensemble::builder().tls(tls(&server, ClientCertificate::Needed)),
    );
    let expired = enforcing(
        "digest",
        Ensemble::builder().tls(tls(&old_server, ClientCertificate::Ignored)),
    );
    let trio = Ensemble::builder()
        .servers(3)
        .tls(tls(&server, ClientCertificate::Wanted));
    let [open, strict, expired, trio] = thread::scope(|scope| {
        [open, strict, expired, trio]
            .map(|builder| scope.spawn(|| builder.start()))
            .map(|starting| starting.join())
    });
    let started = |joined: thread::Result<zoolock_ensemble::Result<Ensemble>>| {
        joined.unwrap_or_else(|_| Err(zoolock_ensemble::Error::new("a starter panicked")))
    };
    let locked_key = authority.file("locked.key.pem");
    std::fs::write(&locked_key, LOCKED_KEY)
        .map_err(|error| zoolock_ensemble::Error::new(error.to_string()))?;
    Ok(Stage {
        carol: authority.issue("carol", "carol.example")?,
        dave: authority.issue("dave", "dave.example")?,
        late: authority.issue_expired("late", "late.example")?,
        unknown: stranger.issue("unknown", "unknown.example")?,
        authority,
        stranger,
        locked_key,
        open: started(open)?,
        strict: started(strict)?,
        expired: started(expired)?,
        trio: started(trio)?,
    })
}
