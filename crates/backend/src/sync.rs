//! The locks, atomics and threads of the concurrent core.
//!
//! Built with `RUSTFLAGS="--cfg shuttle"` they are those of the `shuttle` model checker, so that the code
//! that runs is the code that is checked. Otherwise they are the standard library's and `parking_lot`'s.

/// Whether these are the model checker's. Then nobody should spin: time does not pass.
pub const MODEL_CHECKED: bool = cfg!(shuttle);

#[cfg(not(shuttle))]
pub use parking_lot::{Condvar, Mutex, MutexGuard};
#[cfg(not(shuttle))]
pub use std::sync::{OnceLock, atomic};
#[cfg(not(shuttle))]
pub use std::{hint, thread};

#[cfg(shuttle)]
pub use checked::{Condvar, Mutex, MutexGuard, OnceLock};
#[cfg(shuttle)]
pub use shuttle::{hint, sync::atomic, thread};

/// Runs a test's body under this many orders of its threads' steps: the model checker's, or else as many
/// as chance brings.
pub fn explore(times: usize, body: impl Fn() + Send + Sync + 'static) {
    #[cfg(shuttle)]
    {
        use shuttle::scheduler::{PctScheduler, RandomScheduler};
        let body = std::sync::Arc::new(body);
        let again = body.clone();
        // Running a kernel takes more of a stack than the model checker gives by itself.
        let mut config = shuttle::Config::new();
        config.stack_size = 1 << 20;
        let random = RandomScheduler::new(times);
        shuttle::Runner::new(random, config.clone()).run(move || body());
        shuttle::Runner::new(PctScheduler::new(3, times), config).run(move || again());
    }
    #[cfg(not(shuttle))]
    for _ in 0..times {
        body();
    }
}

/// Shuttle's locks with `parking_lot`'s signatures.
#[cfg(shuttle)]
mod checked {
    use std::ops::{Deref, DerefMut};
    use std::time::{Duration, Instant};

    /// A mutual exclusion lock.
    #[derive(Default)]
    pub struct Mutex<T>(shuttle::sync::Mutex<T>);

    /// The right to use what a [`Mutex`] protects. Holds `None` only while a [`Condvar`] waits with it.
    pub struct MutexGuard<'a, T>(Option<shuttle::sync::MutexGuard<'a, T>>);

    impl<T> Mutex<T> {
        /// A lock around a value.
        pub fn new(value: T) -> Mutex<T> {
            Mutex(shuttle::sync::Mutex::new(value))
        }

        /// Waits for the lock.
        pub fn lock(&self) -> MutexGuard<'_, T> {
            MutexGuard(Some(self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())))
        }

        /// The lock, if nobody holds it.
        pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
            match self.0.try_lock() {
                Ok(guard) => Some(MutexGuard(Some(guard))),
                Err(std::sync::TryLockError::Poisoned(poisoned)) => {
                    Some(MutexGuard(Some(poisoned.into_inner())))
                }
                Err(std::sync::TryLockError::WouldBlock) => None,
            }
        }

        /// The value, without its lock.
        pub fn into_inner(self) -> T {
            self.0.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())
        }

        /// The value; nobody else can hold the lock.
        pub fn get_mut(&mut self) -> &mut T {
            self.0.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner())
        }
    }

    impl<T> Deref for MutexGuard<'_, T> {
        type Target = T;
        fn deref(&self) -> &T {
            self.0.as_ref().expect("held outside of a wait")
        }
    }

    impl<T> DerefMut for MutexGuard<'_, T> {
        fn deref_mut(&mut self) -> &mut T {
            self.0.as_mut().expect("held outside of a wait")
        }
    }

    /// A condition variable.
    #[derive(Default)]
    pub struct Condvar(shuttle::sync::Condvar);

    /// Whether a wait ended because its time was up.
    pub struct WaitTimeoutResult(bool);

    impl WaitTimeoutResult {
        /// Whether the time was up.
        pub fn timed_out(&self) -> bool {
            self.0
        }
    }

    impl Condvar {
        /// A condition variable nobody waits on.
        pub fn new() -> Condvar {
            Condvar::default()
        }

        /// Gives up the lock until notified.
        pub fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
            let held = guard.0.take().expect("held outside of a wait");
            guard.0 = Some(self.0.wait(held).unwrap_or_else(|poisoned| poisoned.into_inner()));
        }

        /// Gives up the lock until notified or until a moment that, for the model checker, never comes.
        pub fn wait_until<T>(
            &self,
            guard: &mut MutexGuard<'_, T>,
            _deadline: Instant,
        ) -> WaitTimeoutResult {
            let held = guard.0.take().expect("held outside of a wait");
            let waited = self.0.wait_timeout(held, Duration::MAX);
            let (held, result) = waited.unwrap_or_else(|poisoned| poisoned.into_inner());
            guard.0 = Some(held);
            WaitTimeoutResult(result.timed_out())
        }

        /// Wakes one waiter.
        pub fn notify_one(&self) {
            self.0.notify_one();
        }

        /// Wakes all waiters.
        pub fn notify_all(&self) {
            self.0.notify_all();
        }
    }

    /// A cell that is written once; each access is a point where the model checker may switch threads.
    #[derive(Default)]
    pub struct OnceLock<T>(std::sync::OnceLock<T>);

    impl<T> OnceLock<T> {
        /// An empty cell.
        pub fn new() -> OnceLock<T> {
            OnceLock(std::sync::OnceLock::new())
        }

        /// The value, if there is one.
        pub fn get(&self) -> Option<&T> {
            shuttle::thread::yield_now();
            self.0.get()
        }

        /// The value, made now if there is none.
        pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
            shuttle::thread::yield_now();
            self.0.get_or_init(make)
        }

        /// Writes the value, or gives it back if there is one already.
        pub fn set(&self, value: T) -> Result<(), T> {
            shuttle::thread::yield_now();
            self.0.set(value)
        }

        /// Takes the value out.
        pub fn take(&mut self) -> Option<T> {
            self.0.take()
        }
    }
}
