//! The TLS client configuration: verification and client certificate.

use crate::error::LoadError;
use crate::plan::{ClientIdentity, LoadPlan, ProtocolChoice, TlsFile, TlsFileError, TlsOptions};
use crate::whole_file;
use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use std::path::Path;
use std::sync::Arc;

/// The largest file of certificates or of a key, in bytes; a file of all public authorities has 300 KiB.
const LARGEST_PEM_BYTES: u64 = 16 << 20;

/// The TLS configuration of a load, made once before it starts, because reading the certificates takes longer than many responses. `None`
/// for an origin without TLS.
///
/// # Errors
/// [`LoadError::TlsFile`] for a file that cannot be used, [`LoadError::Tls`] if the library refuses the settings.
pub(crate) fn client_config(plan: &LoadPlan) -> Result<Option<Arc<ClientConfig>>, LoadError> {
    if !plan.requests.origin().tls {
        return Ok(None);
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| LoadError::Tls(error.to_string()))?;
    let builder = if plan.insecure {
        let verifier = Arc::new(AcceptAnyCertificate(provider));
        builder.dangerous().with_custom_certificate_verifier(verifier)
    } else {
        builder.with_root_certificates(roots(&plan.tls)?)
    };
    let mut config = match &plan.tls.identity {
        None => builder.with_no_client_auth(),
        Some(identity) => {
            let (certificates, key) = read_identity(identity)?;
            builder.with_client_auth_cert(certificates, key).map_err(|error| {
                file_error(TlsFile::Key, &identity.key, format!("it does not fit the certificate: {error}"))
            })?
        }
    };
    config.alpn_protocols = offered(plan.protocol).iter().map(|name| name.to_vec()).collect();
    if !plan.tls.resumption {
        config.resumption = Resumption::disabled();
    }
    Ok(Some(Arc::new(config)))
}

/// The name to send (SNI) and to verify in the certificate.
///
/// # Errors
/// [`LoadError::Tls`] if it is neither a host name nor an address.
pub(crate) fn server_name(plan: &LoadPlan) -> Result<ServerName<'static>, LoadError> {
    let name = plan.sni.as_deref().unwrap_or_else(|| plan.requests.origin().host_without_zone());
    ServerName::try_from(name.to_owned())
        .map_err(|_| LoadError::Tls(format!("`{name}` is not a name a certificate can have")))
}

/// The ALPN names to offer (RFC 7301), in the order of preference.
fn offered(protocol: ProtocolChoice) -> &'static [&'static [u8]] {
    match protocol {
        ProtocolChoice::Auto => &[b"h2", b"http/1.1"],
        ProtocolChoice::Http1 => &[b"http/1.1"],
        ProtocolChoice::Http2 => &[b"h2"],
    }
}

/// The trusted authorities: those of the files; without files the system's, so that a company's own are trusted; or Mozilla's if the system
/// has none.
fn roots(options: &TlsOptions) -> Result<RootCertStore, TlsFileError> {
    let mut roots = RootCertStore::empty();
    for file in &options.ca_files {
        for certificate in read_certificates(TlsFile::Authority, file)? {
            roots.add(certificate).map_err(|error| {
                file_error(
                    TlsFile::Authority,
                    file,
                    format!("it has a certificate that cannot be used: {error}"),
                )
            })?;
        }
    }
    if options.ca_files.is_empty() {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if roots.is_empty() {
            roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        }
    }
    Ok(roots)
}

fn read_identity(
    identity: &ClientIdentity,
) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), TlsFileError> {
    let certificates = read_certificates(TlsFile::Certificate, &identity.certificate)?;
    let key =
        read_pem(&identity.key).and_then(|pem| PrivateKeyDer::from_pem_slice(&pem)).map_err(|error| {
            let help = "write a PEM file with `-----BEGIN PRIVATE KEY-----`, not encrypted";
            file_error(
                TlsFile::Key,
                &identity.key,
                format!("no private key can be read from it: {error}; {help}"),
            )
        })?;
    Ok((certificates, key))
}

fn read_certificates(which: TlsFile, file: &Path) -> Result<Vec<CertificateDer<'static>>, TlsFileError> {
    let read = || CertificateDer::pem_slice_iter(&read_pem(file)?).collect::<Result<Vec<_>, _>>();
    let certificates =
        read().map_err(|error| file_error(which, file, format!("it cannot be read as PEM: {error}")))?;
    if certificates.is_empty() {
        let why = "it has no certificate: write a PEM file with `-----BEGIN CERTIFICATE-----`".to_owned();
        return Err(file_error(which, file, why));
    }
    Ok(certificates)
}

fn read_pem(file: &Path) -> Result<Vec<u8>, pem::Error> {
    whole_file::read(file, LARGEST_PEM_BYTES).map_err(pem::Error::Io)
}

fn file_error(which: TlsFile, file: &Path, why: String) -> TlsFileError {
    TlsFileError { which, file: file.to_owned(), why }
}

/// Accepts any certificate, for `insecure`. Signatures are still verified, so that the handshake costs the same.
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

#[cfg(test)]
mod tests;
