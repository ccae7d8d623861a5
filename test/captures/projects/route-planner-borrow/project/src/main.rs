use serde::Deserialize;

#[derive(Debug, Deserialize)]
struct Stop {
    name: String,
    minutes: u32,
}

fn longest(stops: Vec<Stop>) -> Option<Stop> {
    stops.into_iter().max_by_key(|stop| stop.minutes)
}

fn main() {
    let text = r#"[{"name":"Depot","minutes":4},{"name":"School","minutes":11}]"#;
    let stops: Vec<Stop> = serde_json::from_str(text).expect("the sample is valid");
    if let Some(stop) = longest(stops) {
        println!("longest stop: {} ({} min)", stop.name, stop.minutes);
    }
    println!("{} stops planned", stops.len());
}
