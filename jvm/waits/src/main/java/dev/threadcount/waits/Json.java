package dev.threadcount.waits;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.util.JsonRecyclerPools;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.ByteArrayOutputStream;
import java.io.IOException;

/** Lets Jackson write a short text with the buffers that it keeps for each thread, or with {@code pool=shared} with those of a pool. */
public final class Json extends HttpServlet {
    private static final long serialVersionUID = 1L;
    private static final JsonFactory BY_THREAD = JsonFactory.builder().recyclerPool(JsonRecyclerPools.threadLocalPool()).build();
    private static final JsonFactory SHARED =
            JsonFactory.builder().recyclerPool(JsonRecyclerPools.newConcurrentDequePool()).build();

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        JsonFactory factory = "shared".equals(request.getParameter("pool")) ? SHARED : BY_THREAD;
        response.getOutputStream().write(order(factory));
    }

    private static byte[] order(JsonFactory factory) throws IOException {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        try (JsonGenerator json = factory.createGenerator(text)) {
            json.writeStartObject();
            json.writeStringField("order", "4711");
            json.writeNumberField("items", 3);
            json.writeEndObject();
        }
        return text.toByteArray();
    }
}
