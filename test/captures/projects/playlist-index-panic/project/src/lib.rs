pub struct Playlist {
    songs: Vec<String>,
    position: usize,
}

impl Playlist {
    pub fn new(songs: &[&str]) -> Self {
        Playlist { songs: songs.iter().map(|song| song.to_string()).collect(), position: 0 }
    }

    pub fn current(&self) -> &str {
        &self.songs[self.position]
    }

    /// Moves on and starts again after the last song.
    pub fn skip(&mut self) -> &str {
        self.position += 1;
        self.current()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_with_the_first_song() {
        assert_eq!(Playlist::new(&["Ode", "March"]).current(), "Ode");
    }

    #[test]
    fn skips_to_the_next_song() {
        assert_eq!(Playlist::new(&["Ode", "March"]).skip(), "March");
    }

    #[test]
    fn starts_again_after_the_last_song() {
        let mut playlist = Playlist::new(&["Ode", "March"]);
        playlist.skip();
        assert_eq!(playlist.skip(), "Ode");
    }
}
