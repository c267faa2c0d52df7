package dev.threadcount.orders.common;

/** The statements of the shop, the same for all servers, with JDBC's placeholders. */
public final class Sql {
    /** One order by its number. */
    public static final String ORDER = "SELECT id, customer_id, placed_at, state FROM orders WHERE id = ?";

    /** The lines of an order. */
    public static final String LINES = """
            SELECT line, product_id, name AS product, quantity, order_line.price_cents
            FROM order_line JOIN product ON product.id = product_id WHERE order_id = ? ORDER BY line
            """;

    public static final String PRICE = "SELECT price_cents FROM product WHERE id = ?";

    /** A new order of a customer; its number is returned. */
    public static final String NEW_ORDER =
            "INSERT INTO orders (customer_id, placed_at, state) VALUES (?, now(), 'new') RETURNING id";

    /** The only line of a new order: order, product, quantity, price. */
    public static final String NEW_LINE = "INSERT INTO order_line VALUES (?, 1, ?, ?, ?)";

    /** Takes a quantity of a product from the stock. */
    public static final String TAKE = "UPDATE product SET stock = stock - ? WHERE id = ?";

    /** The remaining stock of a product. */
    public static final String STOCK = "SELECT stock FROM product WHERE id = ?";

    /** The products that the customers from the first number to the second bought most. */
    public static final String SEARCH = """
            SELECT name AS product, sum(quantity) AS quantity, sum(quantity * order_line.price_cents) AS cents
            FROM orders JOIN order_line ON order_id = orders.id JOIN product ON product.id = product_id
            WHERE customer_id BETWEEN ? AND ? GROUP BY name ORDER BY cents DESC, name LIMIT 20
            """;

    private Sql() {}

    /** The statement with PostgreSQL's own placeholders, such as {@code $1} for the first. */
    public static String numbered(String statement) {
        var numbered = new StringBuilder();
        int place = 0;
        for (char letter : statement.toCharArray()) {
            numbered.append(letter == '?' ? "$" + ++place : String.valueOf(letter));
        }
        return numbered.toString();
    }
}
