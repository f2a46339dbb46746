//! Three-party replicated secret sharing (Araki et al. 2016).
