//! Thousands of runs, of which some break.

use super::*;
use std::sync::atomic::AtomicUsize;
use tacit_testkit::Rng;
use tacit_testkit::links::Mortal;

/// Bytes of memory that this process has in use, and its open files.
fn taken() -> (u64, usize) {
    let status = fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = status.split(' ').nth(1).unwrap().parse().unwrap();
    (pages * 4096, fs::read_dir("/proc/self/fd").unwrap().count())
}

/// 1,000 runs by 50 clients, who vanish in the middle of others of theirs at random, and 1,000 more. In one run of thirteen or
/// so a party's links break at random, and its client asks again. No other run fails, and the second thousand leaves nothing
/// behind but what this test notes of it.
#[test]
#[ignore = "takes minutes: make test-long"]
fn a_thousand_runs_by_fifty_clients_leave_nothing_behind() {
    let house = House::new();
    let program = square();
    let [breaks, failed] = [0, 0].map(|_| Arc::new(AtomicUsize::new(0)));
    let parties = [0, 1, 2].map(|number| {
        let mut server = house.open(number, &program, QUEUE, None, &["guest"]).unwrap();
        server.stop_after(None);
        let (rng, breaks) = (Mutex::new(Rng::new(number as u64)), breaks.clone());
        server.wrap(move |links| {
            let mut rng = rng.lock().unwrap();
            if !rng.one_in(40) {
                return Box::new(links);
            }
            breaks.fetch_add(1, Ordering::SeqCst);
            Box::new(Mortal::new(Box::new(links), 3, rng.below(16)))
        });
        Party::serves(server)
    });
    let clients: Vec<Config> = (0..50)
        .map(|number| {
            let (config, client) = house.stranger(&format!("client{number}"));
            (0..3).for_each(|party| enrol(&house.party(party), client.clone()).unwrap());
            config
        })
        .collect();
    let rounds = |seed: u64, runs: usize| {
        thread::scope(|scope| {
            for (number, config) in clients.iter().enumerate() {
                let (program, failed, mut rng) = (&program, &failed, Rng::new(seed + number as u64));
                scope.spawn(move || {
                    let mut own = seat(config.clone(), Some("guest"));
                    for run in 0..runs {
                        if rng.one_in(8) {
                            // It vanishes once its run has begun, or a while after.
                            let mut gone = by_hand(config);
                            let id = (number * 1000 + run) as u64;
                            tell_all(&mut gone, &ToParty::Ask(request(program, id, "guest")));
                            let _ = heard(&mut gone, 0);
                            thread::sleep(Duration::from_millis(rng.below(100) as u64));
                        }
                        let x = run as i64 - 10;
                        loop {
                            match squared(&mut own, program, x) {
                                Ok(square) => break assert_eq!(square, Some(ints(x * x))),
                                Err(error) => assert!(error.is_abort(), "{error}"),
                            }
                            failed.fetch_add(1, Ordering::SeqCst);
                        }
                    }
                });
            }
        });
    };
    // Clients come twice: by then the allocator has what it keeps for threads.
    rounds(100, 4);
    rounds(200, 16);
    let before = taken();
    rounds(300, 20);
    let after = taken();
    println!("bytes and open files after 1,000 runs: {before:?}; after 2,000: {after:?}");
    assert!(after.1 <= before.1 + 10, "open files: {before:?}, then {after:?}");
    assert!(after.0 <= before.0 + (16 << 20), "memory: {before:?}, then {after:?}");
    let [breaks, failed] = [breaks, failed].map(|count| count.load(Ordering::SeqCst));
    println!("runs whose links were to break: {breaks}; that failed for their clients: {failed}");
    assert!(0 < failed && failed <= breaks, "{failed} of {breaks}");
    for party in parties {
        let (done, ended, _) = party.end();
        done.unwrap();
        // Links that break among the last words leave some with an end and others without.
        let well = ended.iter().filter(|run| run.is_ok()).count();
        assert!(well.abs_diff(2000) <= breaks, "{well}, {breaks}");
    }
}
