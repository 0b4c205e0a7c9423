//! Synchronization primitives and threads of the concurrent core, replaceable by a model checker.
//!
//! With `RUSTFLAGS="--cfg shuttle"` these are the `shuttle` model checker's, so the checked code is the code that
//! runs. Otherwise they come from the standard library and `parking_lot`.

/// True under the model checker. Code must not spin then: time does not advance.
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

/// Runs a test body under `schedules` thread schedules: chosen by the model checker, or otherwise by the operating
/// system.
pub fn explore(schedules: usize, body: impl Fn() + Send + Sync + 'static) {
    #[cfg(shuttle)]
    {
        use shuttle::scheduler::{PctScheduler, RandomScheduler};
        let body = std::sync::Arc::new(body);
        let again = body.clone();
        // Running a kernel needs more stack than the model checker's default.
        let mut config = shuttle::Config::new();
        config.stack_size = 1 << 20;
        let random = RandomScheduler::new(schedules);
        shuttle::Runner::new(random, config.clone()).run(move || body());
        shuttle::Runner::new(PctScheduler::new(3, schedules), config).run(move || again());
    }
    #[cfg(not(shuttle))]
    for _ in 0..schedules {
        body();
    }
}

/// Shuttle's locks with the signatures of `parking_lot`.
#[cfg(shuttle)]
mod checked {
    use std::ops::{Deref, DerefMut};
    use std::time::{Duration, Instant};

    /// Mutual exclusion lock.
    #[derive(Default)]
    pub struct Mutex<T>(shuttle::sync::Mutex<T>);

    /// RAII guard of a [`Mutex`]. `None` only while a [`Condvar`] waits with it.
    pub struct MutexGuard<'a, T>(Option<shuttle::sync::MutexGuard<'a, T>>);

    impl<T> Mutex<T> {
        /// Creates a lock around a value.
        pub fn new(value: T) -> Mutex<T> {
            Mutex(shuttle::sync::Mutex::new(value))
        }

        /// Blocks until the lock is acquired.
        pub fn lock(&self) -> MutexGuard<'_, T> {
            MutexGuard(Some(self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())))
        }

        /// Acquires the lock if it is free.
        pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
            match self.0.try_lock() {
                Ok(guard) => Some(MutexGuard(Some(guard))),
                Err(std::sync::TryLockError::Poisoned(poisoned)) => {
                    Some(MutexGuard(Some(poisoned.into_inner())))
                }
                Err(std::sync::TryLockError::WouldBlock) => None,
            }
        }

        /// Consumes the lock and returns the value.
        pub fn into_inner(self) -> T {
            self.0.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())
        }

        /// Accesses the value without locking: exclusive access rules out other holders.
        pub fn get_mut(&mut self) -> &mut T {
            self.0.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner())
        }
    }

    impl<T> Deref for MutexGuard<'_, T> {
        type Target = T;
        fn deref(&self) -> &T {
            self.0.as_ref().expect("the guard holds the lock except during a wait")
        }
    }

    impl<T> DerefMut for MutexGuard<'_, T> {
        fn deref_mut(&mut self) -> &mut T {
            self.0.as_mut().expect("the guard holds the lock except during a wait")
        }
    }

    /// Condition variable.
    #[derive(Default)]
    pub struct Condvar(shuttle::sync::Condvar);

    /// Whether a wait timed out.
    pub struct WaitTimeoutResult(bool);

    impl WaitTimeoutResult {
        /// Whether the wait timed out.
        pub fn timed_out(&self) -> bool {
            self.0
        }
    }

    impl Condvar {
        /// Creates a condition variable.
        pub fn new() -> Condvar {
            Condvar::default()
        }

        /// Releases the lock until notified.
        pub fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
            let held = guard.0.take().expect("the guard holds the lock except during a wait");
            guard.0 = Some(self.0.wait(held).unwrap_or_else(|poisoned| poisoned.into_inner()));
        }

        /// Releases the lock until notified or until the deadline, which never comes under the model checker.
        pub fn wait_until<T>(
            &self,
            guard: &mut MutexGuard<'_, T>,
            _deadline: Instant,
        ) -> WaitTimeoutResult {
            let held = guard.0.take().expect("the guard holds the lock except during a wait");
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

    /// Write-once cell. Every access is a preemption point for the model checker.
    #[derive(Default)]
    pub struct OnceLock<T>(std::sync::OnceLock<T>);

    impl<T> OnceLock<T> {
        /// An empty cell.
        pub fn new() -> OnceLock<T> {
            OnceLock(std::sync::OnceLock::new())
        }

        /// The value, if it is set.
        pub fn get(&self) -> Option<&T> {
            shuttle::thread::yield_now();
            self.0.get()
        }

        /// The value, initialized by `make` if it is not set.
        pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
            shuttle::thread::yield_now();
            self.0.get_or_init(make)
        }

        /// Sets the value, or returns it as `Err` if the cell is already set.
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
