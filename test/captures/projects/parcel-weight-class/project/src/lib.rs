use regex::Regex;

#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub enum Class {
    Letter,
    Small,
    Medium,
    Large,
}

/// Reads "1.25 kg" or "800 g" into grams.
pub fn grams(text: &str) -> Option<u32> {
    let pattern = Regex::new(r"^\s*(\d+(?:\.\d+)?)\s*(kg|g)\s*$").expect("the pattern is valid");
    let found = pattern.captures(text)?;
    let amount: f64 = found[1].parse().ok()?;
    Some(if &found[2] == "kg" { (amount * 1000.0).round() as u32 } else { amount.round() as u32 })
}

pub fn class_of(grams: u32) -> Class {
    match grams {
        0..=500 => Class::Letter,
        501..=1_999 => Class::Small,
        2_000..=9_999 => Class::Medium,
        _ => Class::Large,
    }
}
