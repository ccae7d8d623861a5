use parcels::{class_of, grams, Class};

#[test]
fn reads_kilograms() {
    assert_eq!(grams("1.25 kg"), Some(1250));
}

#[test]
fn reads_grams() {
    assert_eq!(grams(" 800 g "), Some(800));
}

#[test]
fn refuses_pounds() {
    assert_eq!(grams("3 lb"), None);
}

#[test]
fn half_a_kilogram_is_a_small_parcel() {
    assert_eq!(class_of(grams("0.5 kg").unwrap()), Class::Small);
}

#[test]
fn ten_kilograms_are_large() {
    assert_eq!(class_of(10_000), Class::Large);
}

macro_rules! letters {
    ($($name:ident: $grams:expr,)*) => { $(#[test] fn $name() { assert_eq!(class_of($grams), Class::Letter); })* };
}

letters! {
    letter_of_1: 1, letter_of_20: 20, letter_of_50: 50, letter_of_100: 100, letter_of_250: 250, letter_of_499: 499,
}
