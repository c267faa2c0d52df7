use super::*;
use crate::failure::{CertificateProblem, FailureCause};
use crate::plan::Stop;
use crate::request::{RequestSource, Target};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::server::{ClientHello, ResolvesServerCert, WebPkiClientVerifier};
use rustls::sign::CertifiedKey;
use rustls::{ClientConnection, HandshakeKind, ServerConfig, ServerConnection};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;
use std::{env, fs, process};

/// An authority, with the certificates that it signed for `server.test` and for a client.
struct Authority {
    folder: PathBuf,
    certificate: CertificateDer<'static>,
    server: (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>),
}

impl Authority {
    /// A new authority. `name` keeps the folders of concurrent tests apart.
    fn new(name: &str) -> Self {
        let folder = env::temp_dir().join(format!("threadcount-tls-{}-{name}", process::id()));
        fs::create_dir_all(&folder).unwrap();
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let own = params.self_signed(&key).unwrap();
        fs::write(folder.join("ca.pem"), own.pem()).unwrap();
        let issuer = Issuer::new(params, key);
        let signed = |name: &str| {
            let key = KeyPair::generate().unwrap();
            let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
            (params.signed_by(&key, &issuer).unwrap(), key)
        };
        let (certificate, key) = signed("client.test");
        fs::write(folder.join("client.pem"), certificate.pem()).unwrap();
        fs::write(folder.join("client.key"), key.serialize_pem()).unwrap();
        fs::write(folder.join("other.key"), KeyPair::generate().unwrap().serialize_pem()).unwrap();
        let (certificate, key) = signed("server.test");
        let server = (vec![certificate.der().clone()], PrivateKeyDer::try_from(key.serialize_der()).unwrap());
        Self { folder, certificate: own.der().clone(), server }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// A server that demands a client certificate of this authority, or none.
    fn server(&self, asks_client: bool) -> Arc<ServerConfig> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.clone()).unwrap();
        let builder = if asks_client {
            let verifier =
                WebPkiClientVerifier::builder_with_provider(roots.into(), provider).build().unwrap();
            builder.with_client_cert_verifier(verifier)
        } else {
            builder.with_no_client_auth()
        };
        let (certificates, key) = &self.server;
        let mut config = builder.with_single_cert(certificates.clone(), key.clone_key()).unwrap();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Arc::new(config)
    }

    /// A plan that trusts the authority.
    fn plan(&self) -> LoadPlan {
        plan().with(|plan| {
            plan.tls.ca_files = vec![self.file("ca.pem")];
            plan.sni = Some("server.test".to_owned());
        })
    }
}

impl Drop for Authority {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn plan() -> LoadPlan {
    let target = Target::get("https://127.0.0.1/").unwrap();
    let requests = Arc::new(RequestSource::new(vec![target]).unwrap());
    LoadPlan::closed(requests, NonZeroU32::MIN, Stop::Duration(Duration::from_secs(1)))
}

/// Both ends after a handshake in memory, or the error.
fn shake_hands(
    plan: &LoadPlan,
    client: &Arc<ClientConfig>,
    server: &Arc<ServerConfig>,
) -> Result<(ClientConnection, ServerConnection), rustls::Error> {
    let mut client = ClientConnection::new(Arc::clone(client), server_name(plan).unwrap())?;
    let mut server = ServerConnection::new(Arc::clone(server))?;
    // There are more rounds than a handshake needs, so that session tickets arrive too.
    for _ in 0..6 {
        let mut wire = Vec::new();
        while client.wants_write() {
            client.write_tls(&mut wire).unwrap();
        }
        let mut rest = wire.as_slice();
        while !rest.is_empty() {
            server.read_tls(&mut rest).unwrap();
            server.process_new_packets()?;
        }
        wire.clear();
        while server.wants_write() {
            server.write_tls(&mut wire).unwrap();
        }
        let mut rest = wire.as_slice();
        while !rest.is_empty() {
            client.read_tls(&mut rest).unwrap();
            client.process_new_packets()?;
        }
    }
    assert!(!client.is_handshaking() && !server.is_handshaking());
    Ok((client, server))
}

fn config(plan: &LoadPlan) -> Arc<ClientConfig> {
    client_config(plan).unwrap().unwrap()
}

#[test]
fn a_server_is_trusted_by_the_authority_in_the_file_and_only_then() {
    let authority = Authority::new("trust");
    let trusting = authority.plan();
    assert!(shake_hands(&trusting, &config(&trusting), &authority.server(false)).is_ok());
    let other = Authority::new("trust-other");
    let of_other = trusting.with(|plan| plan.tls.ca_files = vec![other.file("ca.pem")]);
    let error = shake_hands(&of_other, &config(&of_other), &authority.server(false)).unwrap_err();
    assert!(matches!(error, rustls::Error::InvalidCertificate(_)), "{error}");
    let both = of_other.with(|plan| plan.tls.ca_files.push(authority.file("ca.pem")));
    assert!(shake_hands(&both, &config(&both), &authority.server(false)).is_ok());
}

#[test]
fn a_certificate_of_an_authority_is_refused_as_that_of_a_server_by_its_cause() {
    let mut authority = Authority::new("as-server");
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(vec!["server.test".to_owned()]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let own = params.self_signed(&key).unwrap();
    fs::write(authority.file("ca.pem"), own.pem()).unwrap();
    authority.server = (vec![own.der().clone()], PrivateKeyDer::try_from(key.serialize_der()).unwrap());
    let plan = authority.plan();
    let error = shake_hands(&plan, &config(&plan), &authority.server(false)).unwrap_err();
    let cause = crate::secure::cause::of_tls(&error);
    assert_eq!(cause, FailureCause::Certificate(CertificateProblem::Authority), "{error}");
}

/// Remembers the name that a client sent.
#[derive(Debug)]
struct NameKeeper(std::sync::Mutex<Option<String>>, Arc<CertifiedKey>);

impl ResolvesServerCert for NameKeeper {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        *self.0.lock().unwrap() = hello.server_name().map(str::to_owned);
        Some(Arc::clone(&self.1))
    }
}

#[test]
fn the_name_is_sent_and_looked_for_in_the_certificate() {
    let authority = Authority::new("sni");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let (certificates, key) = &authority.server;
    let key = CertifiedKey::from_der(certificates.clone(), key.clone_key(), &provider).unwrap();
    let keeper = Arc::new(NameKeeper(std::sync::Mutex::new(None), Arc::new(key)));
    let mut server = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_cert_resolver(keeper.clone());
    server.alpn_protocols = vec![b"http/1.1".to_vec()];
    let server = Arc::new(server);
    let plan = authority.plan();
    assert!(shake_hands(&plan, &config(&plan), &server).is_ok());
    assert_eq!(keeper.0.lock().unwrap().as_deref(), Some("server.test"));
    let without = plan.with(|plan| plan.sni = None);
    assert!(
        shake_hands(&without, &config(&without), &server).is_err(),
        "the certificate is not for 127.0.0.1"
    );
}

#[test]
fn a_client_shows_its_certificate_where_the_server_demands_one() {
    let authority = Authority::new("client");
    let plan = authority.plan();
    assert!(shake_hands(&plan, &config(&plan), &authority.server(true)).is_err());
    let with_identity = plan.with(|plan| {
        let (certificate, key) = (authority.file("client.pem"), authority.file("client.key"));
        plan.tls.identity = Some(ClientIdentity { certificate, key });
    });
    let (_, server) = shake_hands(&with_identity, &config(&with_identity), &authority.server(true)).unwrap();
    assert_eq!(server.peer_certificates().map(<[_]>::len), Some(1));
}

#[test]
fn sessions_are_resumed_unless_that_is_switched_off() {
    let authority = Authority::new("resume");
    let second_handshake = |plan: &LoadPlan| {
        let (client, server) = (config(plan), authority.server(false));
        shake_hands(plan, &client, &server).unwrap();
        shake_hands(plan, &client, &server).unwrap().0.handshake_kind()
    };
    let plan = authority.plan();
    assert_eq!(second_handshake(&plan), Some(HandshakeKind::Resumed));
    let without = plan.with(|plan| plan.tls.resumption = false);
    assert_eq!(second_handshake(&without), Some(HandshakeKind::Full));
}

#[test]
fn a_file_that_cannot_be_used_is_named_with_its_field() {
    let authority = Authority::new("files");
    let refused = |change: &dyn Fn(&mut LoadPlan), which: TlsFile, why: &str| {
        let error = client_config(&authority.plan().with(change)).unwrap_err();
        let LoadError::TlsFile(error) = error else { panic!("{error}") };
        assert_eq!(error.which, which);
        assert!(error.to_string().starts_with(&which.to_string()) && error.why.contains(why), "{error}");
    };
    let ca = |name: &'static str| {
        let file = authority.file(name);
        move |plan: &mut LoadPlan| plan.tls.ca_files = vec![file.clone()]
    };
    refused(&ca("missing.pem"), TlsFile::Authority, "it cannot be read as PEM");
    refused(&ca("client.key"), TlsFile::Authority, "it has no certificate: write a PEM file");
    let identity = |certificate: &'static str, key: &'static str| {
        let identity = ClientIdentity { certificate: authority.file(certificate), key: authority.file(key) };
        move |plan: &mut LoadPlan| plan.tls.identity = Some(identity.clone())
    };
    refused(&identity("missing", "client.key"), TlsFile::Certificate, "it cannot be read as PEM");
    refused(&identity("client.pem", "client.pem"), TlsFile::Key, "no private key can be read from it");
    refused(&identity("client.pem", "other.key"), TlsFile::Key, "it does not fit the certificate");
}
