use super::*;

/// A second of a server whose requests cost 100 µs each and whose compiler has nothing to do.
fn at_rate(rate_per_s: f64) -> WarmUpSecond {
    WarmUpSecond { rate_per_s, cpu_cores: rate_per_s * 1e-4, ..WarmUpSecond::default() }
}

/// The second after which a closed load's warm-up of at most 6 s (a window of 3) ends.
fn ends_after(rates: &[f64]) -> Option<usize> {
    let mut test = WarmUpTest::new(6.0, false);
    rates.iter().position(|&rate| {
        test.second(at_rate(rate));
        test.is_steady() == Some(true)
    })
}

#[test]
fn the_window_is_half_of_the_longest_warm_up_within_three_and_five_seconds() {
    let window = |at_most_s| WarmUpTest::new(at_most_s, false).window;
    assert_eq!([1.0, 6.0, 8.0, 9.0, 10.0, 60.0].map(window), [3, 3, 4, 4, 5, 5]);
}

#[test]
fn a_rate_that_is_level_from_the_fourth_second_on_ends_after_the_sixth() {
    // Seconds 4 to 6 are the first three that are level.
    assert_eq!(ends_after(&[1_000.0, 3_000.0, 3_700.0, 3_990.0, 4_000.0, 3_995.0, 4_000.0]), Some(5));
}

#[test]
fn a_ramp_never_levels_off() {
    let ramp: Vec<f64> = (0..60).map(|second| 1_000.0 * 1.02_f64.powi(second)).collect();
    assert_eq!(ends_after(&ramp), None);
    let fall: Vec<f64> = ramp.into_iter().rev().collect();
    assert_eq!(ends_after(&fall), None);
}

#[test]
fn noise_of_three_per_cent_levels_off() {
    let noisy = [1.03, 0.97, 1.0, 1.03, 0.98, 1.02, 0.97, 1.0].map(|noise| 4_000.0 * noise);
    assert!(ends_after(&noisy).is_some_and(|second| second < 7), "{:?}", ends_after(&noisy));
}

#[test]
fn a_standstill_is_not_level() {
    assert_eq!(ends_after(&[0.0; 10]), None);
    assert_eq!(ends_after(&[4_000.0, 2_000.0, 4_000.0, 4_000.0, 2_000.0, 4_000.0]), None);
}

#[test]
fn the_second_in_which_the_load_is_stopped_does_not_count() {
    let mut test = WarmUpTest::new(6.0, false);
    [3_719.0, 3_834.0, 3_632.0, 12.0].into_iter().for_each(|rate| test.second(at_rate(rate)));
    assert_eq!(test.is_steady(), Some(true));
}

#[test]
fn two_seconds_are_too_few_to_tell() {
    let mut test = WarmUpTest::new(6.0, false);
    test.second(at_rate(1.0));
    test.second(at_rate(1.0));
    assert_eq!(test.is_steady(), None);
}

#[test]
fn under_an_open_load_the_cpu_has_to_be_level_too() {
    let ends_after = |cpu: &[f64]| {
        let mut test = WarmUpTest::new(6.0, true);
        cpu.iter().position(|&cpu| {
            test.second(WarmUpSecond { cpu_cores: cpu, ..at_rate(5_000.0) });
            test.is_steady() == Some(true)
        })
    };
    assert_eq!(ends_after(&[1.0, 1.0, 1.0]), Some(2), "at once");
    assert_eq!(ends_after(&[1.8, 1.5, 1.2, 0.9, 0.7, 0.6, 0.6, 0.6]), Some(7));
    assert_eq!(WarmUpTest::new(6.0, true).judged_by(), SteadyBy::RateAndCpu);
}

/// The second after which a closed load's warm-up of at most 6 s ends, at a level rate.
fn ends_at_level_rate(cpu_and_compiler_cores: &[(f64, f64)]) -> Option<usize> {
    let mut test = WarmUpTest::new(6.0, false);
    cpu_and_compiler_cores.iter().position(|&(cpu_cores, compiler_cores)| {
        test.second(WarmUpSecond { cpu_cores, compiler_cores, ..at_rate(4_000.0) });
        test.is_steady() == Some(true)
    })
}

#[test]
fn a_level_rate_is_not_warm_while_the_compiler_takes_more_than_its_share() {
    let compiling = [(1.0, 0.4), (1.0, 0.3), (1.0, 0.2), (1.0, 0.1), (1.0, 0.04), (1.0, 0.03), (1.0, 0.02)];
    // Seconds 4 to 6 are the first three with a mean near the limit, 5.7 %. Seconds 5 to 7 are below 5 %.
    assert_eq!(ends_at_level_rate(&compiling), Some(6));
    assert_eq!(ends_at_level_rate(&[(1.0, 0.23); 60]), None, "a compiler that never ends");
    assert_eq!(ends_at_level_rate(&[(1.0, 0.04); 3]), Some(2), "a look-alike within its share");
}

#[test]
fn cpu_per_request_that_falls_is_not_warm_and_that_of_an_idle_server_does_not_count() {
    let falling = [1.8, 1.5, 1.2, 0.9, 0.7, 0.6, 0.6, 0.6].map(|cpu| (cpu, 0.0));
    assert_eq!(ends_at_level_rate(&falling), Some(7));
    // The CPU clock has advanced by one or two ticks.
    assert_eq!(ends_at_level_rate(&[(0.01, 0.009), (0.03, 0.0), (0.01, 0.009)]), Some(2));
}

#[test]
fn what_is_not_steady_is_named_with_the_compilers_share() {
    let mut test = WarmUpTest::new(6.0, false);
    assert_eq!((test.unsteady(), test.compiler_share()), (None, None));
    for (rate_per_s, cpu_cores) in [(1_000.0, 1.0), (2_000.0, 1.0), (3_000.0, 1.0)] {
        test.second(WarmUpSecond { cpu_cores, compiler_cores: 0.5, ..at_rate(rate_per_s) });
    }
    let expected = [WarmUpFigure::Rate, WarmUpFigure::CpuPerRequest, WarmUpFigure::Compiler];
    assert_eq!(test.unsteady(), Some(expected.to_vec()));
    assert_eq!(test.compiler_share(), Some(0.5));
}

/// The second after which a closed load's warm-up of at most 6 s ends, at a level rate and level CPU.
fn ends_after_classes(classes_per_s: &[f64]) -> Option<usize> {
    let mut test = WarmUpTest::new(6.0, false);
    classes_per_s.iter().position(|&classes| {
        test.second(WarmUpSecond { classes_per_s: Some(classes), ..at_rate(4_000.0) });
        test.is_steady() == Some(true)
    })
}

#[test]
fn a_jvm_that_still_loads_classes_is_not_warm_whatever_its_rate() {
    // Seconds 3 to 5 load 24 classes per second, seconds 4 to 6 load 4.
    assert_eq!(ends_after_classes(&[900.0, 250.0, 60.0, 12.0, 0.0, 0.0]), Some(5));
    assert_eq!(ends_after_classes(&[2.0, 0.0, 1.0]), Some(2), "a look-alike: a few");
    assert_eq!(ends_after_classes(&[400.0, 405.0, 398.0]), Some(2), "a look-alike: each request makes one");
    let mut test = WarmUpTest::new(6.0, false);
    for classes in [900.0, 250.0, 60.0] {
        test.second(WarmUpSecond { classes_per_s: Some(classes), ..at_rate(4_000.0) });
    }
    assert_eq!(test.unsteady(), Some(vec![WarmUpFigure::ClassLoading]));
    assert!(test.classes_per_s().is_some_and(|mean| (mean - 403.3).abs() < 0.1), "{test:?}");
}

#[test]
fn classes_that_are_not_counted_decide_nothing() {
    let mut test = WarmUpTest::new(6.0, false);
    (0..3).for_each(|_| test.second(at_rate(4_000.0)));
    assert_eq!((test.is_steady(), test.classes_per_s()), (Some(true), None));
}

/// The second after which the compiler is quiet, given the cores of the compiler and of the whole server in each second.
fn recompiled_after(measured_share: f64, seconds: &[(f64, f64)]) -> Option<usize> {
    let mut test = RecompilingTest::new(measured_share);
    seconds.iter().position(|&(compiler_cores, cpu_cores)| {
        test.is_over_after(WarmUpSecond { compiler_cores, cpu_cores, ..WarmUpSecond::default() })
    })
}

#[test]
fn a_compiler_that_waits_for_a_core_is_not_quiet() {
    let second = |waiting| WarmUpSecond {
        compiler_cores: 0.02,
        compiler_waiting_threads: waiting,
        cpu_cores: 1.9,
        ..at_rate(4_000.0)
    };
    let is_over = |waiting, measured_share| {
        let mut test = RecompilingTest::new(measured_share);
        (0..6).any(|_| test.is_over_after(second(waiting)))
    };
    assert!(is_over(0.1, 0.0), "a look-alike: it has little to do");
    assert!(!is_over(1.5, 0.0), "200 threads compute on two cores");
    assert!(!is_over(1.5, 0.03), "it had more of a core when the server was measured");
    let mut test = WarmUpTest::new(6.0, false);
    (0..3).for_each(|_| test.second(second(1.5)));
    assert_eq!(test.unsteady(), Some(vec![WarmUpFigure::Compiler]));
}

#[test]
fn a_jvm_has_compiled_anew_when_its_compiler_is_quiet_for_two_seconds() {
    // Readings of Tomcat on a full core while the probe attached.
    let java_25 =
        [(0.47, 1.46), (0.36, 1.35), (0.17, 1.13), (0.10, 1.07), (0.05, 1.01), (0.04, 1.02), (0.11, 1.06)];
    let java_21 =
        [(0.29, 1.19), (0.79, 1.77), (0.57, 1.44), (0.27, 1.19), (0.11, 1.06), (0.03, 1.01), (0.04, 1.02)];
    assert_eq!(recompiled_after(0.0, &java_25), Some(5));
    assert_eq!(recompiled_after(0.0, &java_21), Some(6));
    assert_eq!(recompiled_after(0.0, &[(0.0, 0.02), (0.0, 0.02)]), Some(1), "hardly a request");
    assert_eq!(
        recompiled_after(0.0, &[(0.0, 1.0), (0.5, 1.5), (0.5, 1.5)]),
        None,
        "it begins a second later"
    );
    let cold = [(0.3, 0.6), (0.5, 0.6), (0.4, 0.5), (0.2, 0.5), (0.2, 0.5), (0.2, 0.5)];
    assert_eq!(recompiled_after(0.5, &cold), Some(5), "it had not been warm when it was measured");
}
