SwaggerUIBundle({ url: "/openapi.json", dom_id: "#reference", deepLinking: true, displayOperationId: false, docExpansion: "list", persistAuthorization: false, validatorUrl: null });
