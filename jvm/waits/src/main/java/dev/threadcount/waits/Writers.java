package dev.threadcount.waits;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import org.h2.slowdisk.SlowDisk;
import org.h2.store.fs.FilePath;

/** Writes a row into an H2 database in a file, and answers when it is on the disk, which is slow. */
public final class Writers extends HttpServlet {
    private static final long serialVersionUID = 1L;
    private static final int WRITERS = 5;

    private transient HikariDataSource pool;

    @Override
    public void init() throws ServletException {
        FilePath.register(new SlowDisk());
        HikariConfig config = new HikariConfig();
        config.setDriverClassName("org.h2.Driver");
        try {
            Path folder = Files.createTempDirectory(Path.of(System.getProperty("slow.file")).getParent(), "writers");
            config.setJdbcUrl("jdbc:h2:slow:" + folder.resolve("orders") + ";DB_CLOSE_ON_EXIT=FALSE");
            config.setMaximumPoolSize(WRITERS);
            config.setRegisterMbeans(false);
            pool = new HikariDataSource(config);
            try (Connection connection = pool.getConnection(); Statement create = connection.createStatement()) {
                create.execute("CREATE TABLE ORDERS(ID IDENTITY, ITEM VARCHAR(100))");
            }
        } catch (SQLException | IOException wrong) {
            throw new ServletException(wrong);
        }
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException, ServletException {
        try {
            save("a chair");
        } catch (SQLException failed) {
            throw new ServletException(failed);
        }
        response.getWriter().print("saved");
    }

    private void save(String item) throws SQLException {
        try (Connection connection = pool.getConnection();
                PreparedStatement insert = connection.prepareStatement("INSERT INTO ORDERS(ITEM) VALUES(?)");
                Statement force = connection.createStatement()) {
            insert.setString(1, item);
            insert.executeUpdate();
            force.execute("CHECKPOINT SYNC");
        }
    }

    @Override
    public void destroy() {
        pool.close();
    }
}
