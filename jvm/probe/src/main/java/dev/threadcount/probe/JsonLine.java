package dev.threadcount.probe;

/** One line of output: a flat JSON object, or one with a few nested ones. Not thread-safe. */
final class JsonLine {
    private final StringBuilder text = new StringBuilder(256);
    private boolean first = true;

    /**
     * Starts a line.
     *
     * @param type what kind of line it is
     * @param timeNs the moment it speaks of, on {@link System#nanoTime()}'s clock
     */
    static JsonLine of(String type, long timeNs) {
        return new JsonLine().open().put("type", type).put("t_ns", timeNs);
    }

    private JsonLine open() {
        text.append('{');
        return this;
    }

    JsonLine put(String key, long value) {
        name(key).text.append(value);
        return this;
    }

    JsonLine put(String key, double value) {
        name(key);
        if (Double.isFinite(value)) {
            text.append(value);
        } else {
            text.append("null");
        }
        return this;
    }

    JsonLine put(String key, boolean value) {
        name(key).text.append(value);
        return this;
    }

    /** Adds a text, or null where there is none. */
    JsonLine put(String key, String value) {
        name(key);
        if (value == null) {
            text.append("null");
        } else {
            quote(value);
        }
        return this;
    }

    String end() {
        return text.append("}\n").toString();
    }

    private JsonLine name(String key) {
        if (!first) {
            text.append(',');
        }
        first = false;
        quote(key);
        text.append(':');
        return this;
    }

    private void quote(String value) {
        text.append('"');
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            switch (c) {
                case '"' -> text.append("\\\"");
                case '\\' -> text.append("\\\\");
                case '\n' -> text.append("\\n");
                case '\t' -> text.append("\\t");
                default -> {
                    if (c < ' ') {
                        text.append(String.format("\\u%04x", (int) c));
                    } else {
                        text.append(c);
                    }
                }
            }
        }
        text.append('"');
    }
}
