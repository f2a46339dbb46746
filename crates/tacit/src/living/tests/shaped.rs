//! Links that are held to what a network would do.

use super::wanted::{bits, enrol_key, keeper, reader, serving, want};
use super::*;
use crate::setup::load_profile;

/// A round trip takes longer than a whole run over links as they are.
const RTT: Duration = Duration::from_millis(100);

#[test]
fn runs_among_parties_take_what_their_network_would_and_those_with_clients_go_as_they_are() {
    let (house, keeper, reader) = (House::new(), keeper(), reader());
    let served = [0, 1, 2].map(|number| {
        let mut server = Server::open(&house.party(number), Vec::new(), serving(3)).unwrap();
        server.expect(&keeper).unwrap();
        server.shape(load_profile(&format!("{}ms,1gbit", RTT.as_millis())).unwrap());
        let asker = server.asker();
        (Party::serves(server), asker)
    });
    let askers = served.each_ref().map(|(_, asker)| asker.clone());
    // A client adds no times to what it sends, and can read none.
    enrol_key(&house, &askers, &keeper, "ann's", 3);
    for run in want(&askers, &reader, "1", &[("key", "ann's")].into(), |_| vec![Some(bits(7))], LONG) {
        let run = run.unwrap();
        assert_eq!(run.outputs, [Some(bits(21))]);
        assert!(run.report.rounds > 0 && run.report.elapsed >= RTT / 2 * run.report.rounds as u32);
    }
    end_well(served.map(|(party, _)| party), 0);
}
