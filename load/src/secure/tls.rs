//! What this client asks of a TLS server.

use crate::plan::{LoadPlan, ProtocolChoice};
use crate::run::LoadError;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use std::sync::Arc;

/// The TLS set-up of a load, made once before it starts (reading the certificates takes longer than many answers);
/// `None` for an origin without TLS.
///
/// # Errors
/// [`LoadError::Tls`] when the library refuses the set-up.
pub(crate) fn client_config(plan: &LoadPlan) -> Result<Option<Arc<ClientConfig>>, LoadError> {
    if !plan.requests.origin().tls {
        return Ok(None);
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| LoadError::Tls(error.to_string()))?;
    let mut config = if plan.insecure {
        let verifier = Arc::new(AcceptAnyCertificate(provider));
        builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()
    } else {
        builder.with_root_certificates(roots()).with_no_client_auth()
    };
    config.alpn_protocols = offered(plan.protocol).iter().map(|name| name.to_vec()).collect();
    Ok(Some(Arc::new(config)))
}

/// The ALPN names to offer (RFC 7301), in the order of preference.
fn offered(protocol: ProtocolChoice) -> &'static [&'static [u8]] {
    match protocol {
        ProtocolChoice::Auto => &[b"h2", b"http/1.1"],
        ProtocolChoice::Http1 => &[b"http/1.1"],
        ProtocolChoice::Http2 => &[b"h2"],
    }
}

/// The system's authorities, so that a company's own are trusted; Mozilla's where the system has none.
fn roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    roots
}

/// `--insecure`: whoever answers is the server. Signatures are still checked, so that the handshake costs the same.
#[derive(Debug)]
struct AcceptAnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AcceptAnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
