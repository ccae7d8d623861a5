use smallvec::SmallVec;

pub fn daily_highs(readings: &[f32]) -> SmallVec<[f32; 7]> {
    readings.chunks(24).map(|day| day.iter().copied().fold(f32::MIN, f32::max)).collect()
}
