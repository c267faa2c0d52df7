//! A server whose compiler is never done is not warm, however level its rate. A server that does the same with one class is.

use crate::java;
use crate::one_session;

use threadcount_model::doubt::DoubtReason;
use threadcount_model::record::WarmUpFigure;

/// Each request runs a hot loop, in a class that it defines anew, or always in the same class.
const COMPILING: &str = "import com.sun.net.httpserver.*;
import java.lang.invoke.*;
class Work {
    static long hot(long n) {
        long sum = n;
        for (int i = 0; i < 200; i++) sum = sum * 31 + step(i, sum);
        return sum;
    }
    static long step(int i, long sum) { return (sum ^ i) % 7 == 0 ? Long.rotateLeft(sum, i) : sum / (i + 1); }
}
class Compiling {
    public static void main(String[] port) throws Exception {
        var fresh = String.valueOf(System.getenv(\"MODE\")).equals(\"fresh\");
        var lookup = MethodHandles.lookup();
        var type = MethodType.methodType(long.class, long.class);
        byte[] bytes;
        try (var in = Compiling.class.getResourceAsStream(\"Work.class\")) { bytes = in.readAllBytes(); }
        var same = lookup.findStatic(Work.class, \"hot\", type);
        var server = HttpServer.create(new java.net.InetSocketAddress(\"127.0.0.1\", Integer.parseInt(port[0])), 9);
        server.createContext(\"/\", exchange -> {
            try {
                var made = fresh ? lookup.defineHiddenClass(bytes, false) : null;
                var hot = fresh ? made.findStatic(made.lookupClass(), \"hot\", type) : same;
                long sum = 0;
                for (int i = 0; i < 300; i++) sum += (long) hot.invokeExact((long) i);
                if (sum == 42) throw new IllegalStateException();
            } catch (Throwable error) { throw new java.io.IOException(error); }
            exchange.sendResponseHeaders(200, 2);
            exchange.getResponseBody().write(\"ok\".getBytes());
            exchange.close();
        });
        server.start();
    }
}";

/// C2 would compile what a request seldom runs some ten seconds later, and such a window is rightly doubted. So the look-alike only has C1,
/// which is done at once.
#[test]
fn a_server_that_keeps_the_compiler_busy_never_gets_warm_and_its_cpu_per_request_is_doubted() {
    let classes = one_session::compiled(&java::jdk().home, "Compiling.java", COMPILING);
    let document = one_session::result(&format!(
        "question: q\nserver: {{command: \"java -Xmx128m -cp {} Compiling {{port}}\"}}\njdk: 25\nrequest: /\nruns: 1\n\
         drop: 0\nwarmup: auto\nbudget: 60s\n\
         variants: {{same: {{env: {{MODE: same}}, jvm: [-XX:TieredStopAtLevel=1]}}, fresh: {{env: {{MODE: fresh}}}}}}\n\
         loads: [{{clients: 2, duration: 2s}}]\n",
        classes.path().display(),
    ));
    let run = |variant: &str| document.records.iter().find(|it| it.variant == variant).unwrap();
    let busy = |variant: &str| {
        let is_busy = |reason: &DoubtReason| matches!(reason, DoubtReason::CompilerBusy { .. });
        document.why_not.iter().find(|it| it.variant == variant && is_busy(&it.reason))
    };
    let fresh = run("fresh").warm_up.clone().unwrap();
    assert_eq!(fresh.levelled, Some(false), "{fresh:?}");
    assert!(fresh.unsteady.contains(&WarmUpFigure::Compiler), "{fresh:?}");
    assert!(fresh.compiler_share > Some(0.05), "{fresh:?}");
    let doubt = busy("fresh").expect("a doubt");
    assert!(!doubt.reason.is_serious());

    let same = run("same").warm_up.clone().unwrap();
    assert!(!same.unsteady.contains(&WarmUpFigure::Compiler), "{same:?}");
    assert!(same.compiler_share <= Some(0.05), "{same:?}");
    assert!(same.classes_per_s.is_some() && fresh.classes_per_s > same.classes_per_s, "{same:?} {fresh:?}");
    assert_eq!(busy("same"), None, "{:?}", run("same").cost);
}
