//! How fast links are: three endpoints in a ring, each sending 64 KiB both ways, over memory, TCP and TLS; the
//! time of a round; and many short messages.
//!
//! `cargo bench -p tacit-net` prints medians of several runs.

use std::net::TcpListener;
use std::time::{Duration, Instant};
use std::{env, fs, process, thread};

use tacit_net::setup::{Config, Listener, init};
use tacit_net::{At, Limits, Mesh, memory};

const RUNS: usize = 7;
const FRAME: usize = 64 << 10;

fn main() {
    println!("{:8} {:>16} {:>18} {:>18}", "link", "64 KiB, GB/s", "round trip, us", "8 bytes, M/s");
    for link in ["memory", "tcp", "tls"] {
        let ring = median(|| {
            let frames = if link == "memory" { 20_000 } else { 6000 };
            let took = measure(meshes(link), frames, ring);
            2.0 * f64::from(frames) * FRAME as f64 / took.as_secs_f64() / 1e9
        });
        let trip = median(|| {
            let trips = 5000;
            measure(meshes(link), trips, ping).as_secs_f64() / f64::from(trips) * 1e6
        });
        let short = median(|| {
            let messages = 500_000;
            f64::from(messages) / measure(meshes(link), messages, stream).as_secs_f64() / 1e6
        });
        println!("{link:8} {ring:16.2} {trip:18.1} {short:18.2}");
    }
    println!("GB/s: what each of the three endpoints sends, and receives as much.");
}

fn median(mut run: impl FnMut() -> f64) -> f64 {
    let mut figures: Vec<f64> = (0..RUNS).map(|_| run()).collect();
    figures.sort_by(f64::total_cmp);
    figures[RUNS / 2]
}

/// The longest of the endpoints' times.
fn measure(meshes: Vec<Mesh>, count: u32, body: fn(&mut Mesh, u32)) -> Duration {
    let threads: Vec<_> = meshes
        .into_iter()
        .map(|mut mesh| {
            thread::spawn(move || {
                barrier(&mut mesh);
                let start = Instant::now();
                body(&mut mesh, count);
                let took = start.elapsed();
                mesh.close().unwrap();
                took
            })
        })
        .collect();
    threads.into_iter().map(|thread| thread.join().unwrap()).max().unwrap()
}

fn barrier(mesh: &mut Mesh) {
    let at = At::op(u32::MAX);
    let peers: Vec<usize> = (0..3).filter(|&peer| mesh.is_linked(peer)).collect();
    for &peer in &peers {
        mesh.send(peer, at, &[]).unwrap();
    }
    for &peer in &peers {
        mesh.recv(peer, at, 0).unwrap();
    }
}

/// Every endpoint sends frames to both others, two ahead of what it has received.
fn ring(mesh: &mut Mesh, frames: u32) {
    let peers = [(mesh.me() + 1) % 3, (mesh.me() + 2) % 3];
    let ahead = 2;
    for op in 0..frames + ahead {
        if op < frames {
            for peer in peers {
                let mut buffer = mesh.buffer(FRAME);
                buffer.resize(FRAME, op as u8);
                mesh.send_vec(peer, At::op(op), buffer).unwrap();
            }
        }
        if let Some(op) = op.checked_sub(ahead) {
            for peer in peers {
                let message = mesh.recv(peer, At::op(op), FRAME).unwrap();
                mesh.recycle(message);
            }
        }
    }
}

/// Two endpoints bounce eight bytes; the third has left.
fn ping(mesh: &mut Mesh, trips: u32) {
    for op in 0..trips {
        match mesh.me() {
            0 => {
                mesh.send(1, At::op(op), &[0; 8]).unwrap();
                mesh.recv(1, At::op(op), 8).unwrap();
            }
            1 => {
                mesh.recv(0, At::op(op), 8).unwrap();
                mesh.send(0, At::op(op), &[0; 8]).unwrap();
            }
            _ => return,
        }
    }
}

/// One endpoint sends, another receives.
fn stream(mesh: &mut Mesh, messages: u32) {
    for op in 0..messages {
        match mesh.me() {
            0 => mesh.send(1, At::op(op), &[0; 8]).unwrap(),
            1 => drop(mesh.recv(0, At::op(op), 8).unwrap()),
            _ => return,
        }
    }
}

fn meshes(link: &str) -> Vec<Mesh> {
    let names: Vec<String> = (0..3).map(|party| format!("P{party}")).collect();
    if link == "memory" {
        let ends = memory::mesh(3, 0).into_iter().enumerate();
        return ends
            .map(|(me, end)| Mesh::new(Box::new(end), me, names.clone(), Limits::default()))
            .collect();
    }
    let folder = env::temp_dir().join(format!("tacit-net-bench-{}", process::id()));
    let free = |port: &u16| (*port..port + 3).all(|port| TcpListener::bind(("127.0.0.1", port)).is_ok());
    let port = (10_000..30_000).step_by(3).find(free).unwrap();
    let configs = init(&folder, 3, &[], "127.0.0.1", port).unwrap();
    let threads: Vec<_> = configs
        .into_iter()
        .map(|path| {
            let text = fs::read_to_string(&path).unwrap();
            fs::write(&path, text.replace("\"tls\"", &format!("\"{link}\""))).unwrap();
            let config = Config::load(&path).unwrap();
            thread::spawn(move || {
                let transport =
                    Listener::bind(&config).unwrap().gather(&[], Duration::from_secs(10)).unwrap();
                Mesh::new(Box::new(transport), config.me(), config.names(), Limits::default())
            })
        })
        .collect();
    let meshes = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    fs::remove_dir_all(folder).unwrap();
    meshes
}
