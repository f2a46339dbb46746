//! What the command does without Python: plans in files, and no programs.

use crate::{Deployment, PORT, object, tacit};
use serde_json::json;

pub(crate) fn plans_are_told_and_run_without_python() {
    let deployment = Deployment::new(PORT + 40);
    let plan = deployment.path("larger.plan");
    let told = object(&["plan", &plan, "--json"]);
    assert_eq!((&told["name"], told["hash"].as_str().map(str::len)), (&"larger".into(), Some(64)));
    assert_eq!(told["inputs"][0]["raw_range"], json!(["-100", "100"]));
    assert_eq!(told["outputs"], json!([{"to": "all", "name": null, "kind": "bool", "shape": [2]}]));
    let text = tacit(&["plan", &plan]);
    let text = String::from_utf8_lossy(&text.stdout);
    assert!(text.contains("input %1 y of bob: int [2], -100 to 100\n%2 = < %1, %0: bool (2,)"), "{text}");
    assert!(text.contains("\n%2 is output 0: bool [2] to all"), "{text}");

    // Saved anew it is the same, and named otherwise it is refused.
    let copy = deployment.path("copy.plan");
    object(&["plan", &plan, "--save", &copy, "--json"]);
    assert_eq!(std::fs::read(&plan).unwrap(), std::fs::read(&copy).unwrap());
    assert_eq!(tacit(&["plan", &plan, "--save", &deployment.path("copy")]).status.code(), Some(2));

    let refused = |args: &[&str], says: &str| {
        let output = tacit(args);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {error}");
        assert!(error.contains(says), "{args:?}: {error}");
    };
    let damaged = deployment.path("damaged.plan");
    std::fs::write(&damaged, "{}\n").unwrap();
    refused(&["run", "survey.py", "--simulate"], "tacit plan survey.py --save survey.plan");
    refused(&["run", &damaged, "--simulate"], "make it anew with plan.save(...)");
    refused(&["run", &deployment.path("none.plan"), "--simulate"], "can't be read");
    refused(&["run", "survey.txt", "--simulate"], "is no saved plan");
    refused(&["demo"], "the Python package's command");
    refused(&["bench", "start"], "--native");
}

/// Seconds are checked in no test, since others work on the machine; that it is quick shows in `tacit bench start`.
pub(crate) fn a_saved_plan_starts_and_ends() {
    let figures = object(&["bench", "start", "--native", "--quick", "--json"]);
    assert_eq!((&figures["bench"], &figures["native"]), (&"start".into(), &true.into()));
    assert!(figures["seconds"].as_f64().is_some_and(|seconds| seconds > 0.0), "{figures}");
}
