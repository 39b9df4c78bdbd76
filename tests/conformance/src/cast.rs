//! Which language plays which actor.

/// Every actor of a scenario with a language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cast {
    parts: Vec<(String, String)>,
}

impl Cast {
    /// All actors in one language, for each of them; then mixed, so that every language plays every role once beside
    /// another one.
    pub fn all(actors: &[String], languages: &[String]) -> Vec<Cast> {
        let deal = |language: &dyn Fn(usize) -> usize| Cast {
            parts: actors
                .iter()
                .enumerate()
                .map(|(role, actor)| (actor.clone(), languages[language(role)].clone()))
                .collect(),
        };
        let count = languages.len();
        let mut casts: Vec<_> = (0..count).map(|language| deal(&|_| language)).collect();
        if actors.len() > 1 && count > 1 {
            casts.extend((0..count).map(|turn| deal(&|role| (role + turn) % count)));
        }
        casts
    }

    /// Each of our languages beside each peer, dealt in turns, and in both orders; or as `roles` says of each actor, where
    /// it is `true` for a peer.
    pub fn pairs(
        actors: &[String],
        ours: &[String],
        peers: &[String],
        roles: Option<&[bool]>,
    ) -> Vec<Cast> {
        let deal = |our: &String, peer: &String, is_peer: &dyn Fn(usize) -> bool| Cast {
            parts: actors
                .iter()
                .enumerate()
                .map(|(role, actor)| {
                    let language = if is_peer(role) { peer } else { our };
                    (actor.clone(), language.clone())
                })
                .collect(),
        };
        let mut casts = Vec::new();
        for peer in peers {
            for our in ours {
                if let Some(roles) = roles {
                    casts.push(deal(our, peer, &|role| roles[role]));
                } else {
                    casts.push(deal(our, peer, &|role| role % 2 == 1));
                    casts.push(deal(our, peer, &|role| role % 2 == 0));
                }
            }
        }
        casts
    }

    /// The actors with their languages.
    pub fn parts(&self) -> &[(String, String)] {
        &self.parts
    }

    /// Whether there is more than one language.
    pub fn is_mixed(&self) -> bool {
        self.parts.windows(2).any(|pair| pair[0].1 != pair[1].1)
    }

    /// The language, or the languages in the order of the actors.
    pub fn label(&self) -> String {
        if !self.is_mixed() {
            return self
                .parts
                .first()
                .map_or_else(String::new, |part| part.1.clone());
        }
        let languages: Vec<_> = self.parts.iter().map(|part| part.1.as_str()).collect();
        languages.join("+")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn every_language_plays_every_role_alone_and_beside_another() {
        let casts = Cast::all(&names(&["a", "b"]), &names(&["c", "node", "rust"]));
        let labels: Vec<_> = casts.iter().map(Cast::label).collect();
        assert_eq!(
            labels,
            ["c", "node", "rust", "c+node", "node+rust", "rust+c"]
        );
    }

    #[test]
    fn ours_and_a_peer_play_each_role_beside_the_other() {
        let ours = names(&["c", "rust"]);
        let peers = names(&["kazoo"]);
        let casts = Cast::pairs(&names(&["a", "b", "c"]), &ours, &peers, None);
        let labels: Vec<_> = casts.iter().map(Cast::label).collect();
        assert_eq!(
            labels,
            [
                "c+kazoo+c",
                "kazoo+c+kazoo",
                "rust+kazoo+rust",
                "kazoo+rust+kazoo"
            ]
        );
        let fixed = Cast::pairs(&names(&["a", "b"]), &ours, &peers, Some(&[true, false]));
        let labels: Vec<_> = fixed.iter().map(Cast::label).collect();
        assert_eq!(labels, ["kazoo+c", "kazoo+rust"]);
    }

    #[test]
    fn one_actor_is_not_mixed() {
        let casts = Cast::all(&names(&["a"]), &names(&["c", "node"]));
        assert_eq!(casts.len(), 2);
    }
}
