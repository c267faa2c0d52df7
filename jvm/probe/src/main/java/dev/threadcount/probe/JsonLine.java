package dev.threadcount.probe;

import java.util.List;

/** One line of output: a JSON object, which may contain a few nested ones. Not thread-safe. */
public final class JsonLine {
    private final StringBuilder text = new StringBuilder(256);
    private boolean first = true;

    /**
     * Starts a line.
     *
     * @param type the kind of line
     * @param timeNs the moment that it describes, on the clock of {@link System#nanoTime()}
     */
    public static JsonLine of(String type, long timeNs) {
        return new JsonLine().open().put("type", type).put("t_ns", timeNs);
    }

    /** Starts an object that becomes a value of a line. */
    public static JsonLine nested() {
        return new JsonLine().open();
    }

    private JsonLine open() {
        text.append('{');
        return this;
    }

    public JsonLine put(String key, long value) {
        name(key).text.append(value);
        return this;
    }

    public JsonLine put(String key, double value) {
        name(key);
        if (Double.isFinite(value)) {
            text.append(value);
        } else {
            text.append("null");
        }
        return this;
    }

    public JsonLine put(String key, boolean value) {
        name(key).text.append(value);
        return this;
    }

    /** Adds a text, or null if there is none. */
    public JsonLine put(String key, String value) {
        name(key);
        if (value == null) {
            text.append("null");
        } else {
            quote(value);
        }
        return this;
    }

    public JsonLine put(String key, long[] values) {
        name(key).text.append('[');
        for (int i = 0; i < values.length; i++) {
            text.append(i == 0 ? "" : ",").append(values[i]);
        }
        text.append(']');
        return this;
    }

    public JsonLine put(String key, JsonLine value) {
        name(key).text.append(value.text).append('}');
        return this;
    }

    public JsonLine put(String key, List<JsonLine> values) {
        name(key).text.append('[');
        for (int i = 0; i < values.size(); i++) {
            text.append(i == 0 ? "" : ",").append(values.get(i).text).append('}');
        }
        text.append(']');
        return this;
    }

    /** Completes the line and returns its text. */
    public String end() {
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
