package dev.threadcount.waits;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/** Runs a query of {@code ms} milliseconds over a HikariCP pool of 10 connections, which no MBean shows. */
public final class PooledConnection extends HttpServlet {
    private static final long serialVersionUID = 1L;
    private static final int CONNECTIONS = 10;

    private transient HikariDataSource pool;

    @Override
    public void init() throws ServletException {
        HikariConfig config = new HikariConfig();
        config.setDriverClassName("org.h2.Driver");
        config.setJdbcUrl("jdbc:h2:mem:orders;DB_CLOSE_DELAY=-1");
        config.setMaximumPoolSize(CONNECTIONS);
        config.setRegisterMbeans(false);
        pool = new HikariDataSource(config);
        try (Connection connection = pool.getConnection()) {
            connection.createStatement().execute("CREATE ALIAS PAUSE FOR 'java.lang.Thread.sleep(long)'");
        } catch (SQLException wrong) {
            throw new ServletException(wrong);
        }
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException, ServletException {
        try {
            query(Long.parseLong(request.getParameter("ms")));
        } catch (SQLException failed) {
            throw new ServletException(failed);
        }
        response.getWriter().print("found");
    }

    private void query(long ms) throws SQLException {
        try (Connection connection = pool.getConnection(); PreparedStatement query = connection.prepareStatement("CALL PAUSE(?)")) {
            query.setLong(1, ms);
            query.execute();
        }
    }

    @Override
    public void destroy() {
        pool.close();
    }
}
