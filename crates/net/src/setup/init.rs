//! Makes what every machine of a deployment needs.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, KeyPair, KeyUsagePurpose};

use super::config::{Config, check_name};
use super::error::SetupError;
use super::hello::MAX_ENDPOINTS;
use crate::tls::pin::Fingerprint;

/// How long certificates are valid.
const VALID: Duration = Duration::from_hours(2 * 365 * 24);
/// How far back they are valid already, for machines whose clocks are late.
const SLACK: Duration = Duration::from_hours(24);

/// Writes one folder per party and client into `dir` (made if it is not there), each with its own key,
/// certificate and `parties.toml`, ready to be carried to its machine; returns the paths of the
/// configurations, parties first.
///
/// Parties are named `P0`, `P1`, ... and stand at `host`, on the ports from `port` up; edit the addresses for
/// machines of their own. Keys are readable by their owner only. Certificates are valid for two years.
///
/// # Errors
/// [`SetupError::Init`] for fewer than 2 parties, bad names or ports, or folders that are there already
/// (nothing is overwritten); [`SetupError::File`].
pub fn init(
    dir: &Path,
    parties: usize,
    clients: &[String],
    host: &str,
    port: u16,
) -> Result<Vec<PathBuf>, SetupError> {
    let refuse = |detail: String| SetupError::Init { detail };
    if parties < 2 || parties + clients.len() > MAX_ENDPOINTS {
        return Err(refuse(format!("2 parties at least, {MAX_ENDPOINTS} with clients at most")));
    }
    if port == 0 || usize::from(port) + parties > 1 << 16 {
        return Err(refuse(format!("no {parties} ports from {port} up")));
    }
    let names: Vec<String> =
        (0..parties).map(|party| format!("P{party}")).chain(clients.iter().cloned()).collect();
    for name in &names {
        check_name(name).map_err(refuse)?;
        if dir.join(name).exists() {
            let detail = format!("{} is there already; keys are not overwritten", dir.join(name).display());
            return Err(refuse(detail));
        }
    }

    let pairs = names.iter().map(|name| make(name)).collect::<Result<Vec<Made>, _>>();
    let pairs = pairs.map_err(|error| refuse(error.to_string()))?;
    let mut list = String::new();
    for (index, (name, made)) in names.iter().zip(&pairs).enumerate() {
        let print = made.fingerprint;
        let kind = if index < parties { "party" } else { "client" };
        let _ = write!(list, "\n[[{kind}]]\nname = \"{name}\"\n");
        if index < parties {
            let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
            let _ = writeln!(list, "address = \"{host}:{}\"", usize::from(port) + index);
        }
        let _ = writeln!(list, "fingerprint = \"{print}\"");
    }
    let configs: Vec<String> = names.iter().map(|name| format!("{}{list}", head(name))).collect();
    // What would not be read is not written: a name that comes twice, a bad host.
    for config in &configs {
        Config::parse(config, &dir.join("parties.toml")).map_err(|error| refuse(error.to_string()))?;
    }

    let mut paths = Vec::new();
    for ((name, made), config) in names.iter().zip(&pairs).zip(&configs) {
        let folder = dir.join(name);
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o755)
            .create(&folder)
            .map_err(|error| SetupError::File { path: folder.clone(), detail: error.to_string() })?;
        write(&folder.join("key.pem"), &made.key, 0o600)?;
        write(&folder.join("certificate.pem"), &made.certificate, 0o644)?;
        write(&folder.join("parties.toml"), config, 0o644)?;
        paths.push(folder.join("parties.toml"));
    }
    Ok(paths)
}

fn head(name: &str) -> String {
    format!(
        "# Who takes part, and who this is. Everybody's lists must be the same; the key stays on its machine.\n\
         me = \"{name}\"\ntransport = \"tls\"\nkey = \"key.pem\"\ncertificate = \"certificate.pem\"\n"
    )
}

/// A key and its certificate, in PEM.
struct Made {
    key: String,
    certificate: String,
    fingerprint: Fingerprint,
}

fn make(name: &str) -> Result<Made, rcgen::Error> {
    let key = KeyPair::generate()?.serialize_pem();
    let (certificate, fingerprint) = certificate(name, &key, None)?;
    Ok(Made { key, certificate, fingerprint })
}

/// A certificate in PEM for a key in PEM, that is valid for so long, two years if it isn't said.
pub(super) fn certificate(
    name: &str,
    key: &str,
    valid: Option<Duration>,
) -> Result<(String, Fingerprint), rcgen::Error> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let epoch = rcgen::date_time_ymd(1970, 1, 1);
    let key = KeyPair::from_pem(key)?;
    let mut params = CertificateParams::new(Vec::new())?;
    params.distinguished_name.push(DnType::CommonName, name);
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages =
        vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    params.not_before = epoch + now.saturating_sub(SLACK);
    params.not_after = epoch + now + valid.unwrap_or(VALID);
    let certificate = params.self_signed(&key)?;
    Ok((certificate.pem(), Fingerprint::of(certificate.der())))
}

fn write(path: &Path, text: &str, mode: u32) -> Result<(), SetupError> {
    let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|error| SetupError::File { path: path.to_owned(), detail: error.to_string() })
}
